// The map: its layers, the switches that are also its legend, and what it shows in words.

const NOTHING = { locations: [], cloud: { parts: new Map(), weights: [], spacing: 0 } };

function connectMap(data, selection) {
  const { ground } = data;
  const map = blankMap(ground, data.tiles);
  const shown = () => shownGround(ground, selection);
  const colours = mapColours();
  const colourOf = (round) => roundColour(ground.rounds.indexOf(round), ground.rounds.length);
  const corner = { x: worldX(ground.area[0][1]), y: worldY(ground.area[0][0]) };

  const layer = (name, zIndex, paint) => new CanvasLayer(map, name, zIndex, paint);
  const grid = data.tiles ? null : layer("grid", 210, (context, view) => paintGrid(context, view, corner, metresPerPixel(map), colours.grid));
  const layers = {
    truth: layer("truth", 410, (context, view) => paintTrack(context, view, shown().truth, selection.round, colours.truth)),
    chosen: layer("chosen", 420, (context, view) => paintTrack(context, view, shown().chosen, selection.round, colours.chosen)),
    heat: layer("heat", 415, (context, view) => paintHeat(context, view, shown().cloud, selection.round, colours.heat)),
    centroids: layer("centroids", 440, (context, view) => paintCentroids(context, view, shown().centroids, selection.round, colours)),
    found: layer("found", 450, (context, view) => {
      const { locations, centroids } = shown();
      if (layers.centroids.isShown) paintError(context, view, locations, centroids, selection.round, colours);
      paintFound(context, view, locations, selection.round, colourOf, colours);
    }),
    signal: new SignalLayer(map, ground.signal),
  };
  addFixed(map, ground, Boolean(data.tiles));
  const switches = connectSwitches(layers, ground);

  selection.listen((_, changed) => {
    if (changed.has("configuration")) layers.signal.show(selection.configuration);
    const present = shown();
    switches.chosen.disabled = !present.chosen;
    switches.heat.disabled = !hasHeat(present.cloud);
    if (switches.signal) switches.signal.disabled = !layers.signal.isKnown;
    for (const each of Object.values(layers)) each.redraw();
    byId("map-caption").textContent = captionOf(data, selection, present);
  });
  const all = [grid, ...Object.values(layers)].filter(Boolean);
  whenColoursChange(() => {
    Object.assign(colours, mapColours());
    for (const each of all) each.redraw();
  });
  fitToPaper(map, () => {
    Object.assign(colours, mapColours());
    for (const each of all) each.draw();
  });
}

function blankMap(ground, tiles) {
  const map = L.map("map", {
    attributionControl: false, // a sentence below the map says it, as text
    zoomSnap: 0.25,
    zoomDelta: 0.5,
    zoomAnimation: false,
    fadeAnimation: false,
    inertia: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    scrollWheelZoom: false, // a page that is scrolled must not get stuck in its map
  });
  map.on("focus", () => map.scrollWheelZoom.enable());
  map.on("blur", () => map.scrollWheelZoom.disable());
  map.fitBounds(ground.area, { padding: [14, 14], animate: false });
  if (tiles) L.tileLayer(tiles, { maxZoom: 22, maxNativeZoom: 19 }).addTo(map);
  L.control.scale({ imperial: false, maxWidth: 140 }).addTo(map);
  whenWidthChanges(byId("map"), () => map.invalidateSize({ animate: false }));
  return map;
}

// Paper is narrower than most screens, and light; nothing moves by itself while it is printed.
function fitToPaper(map, draw) {
  const box = byId("map");
  let before = null;
  addEventListener("beforeprint", () => {
    before = { centre: map.getCenter(), zoom: map.getZoom() };
    const bounds = map.getBounds();
    document.documentElement.classList.add("on-paper");
    box.classList.add("on-paper");
    map.invalidateSize({ animate: false });
    map.fitBounds(bounds, { animate: false });
    draw();
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("on-paper");
    box.classList.remove("on-paper");
    map.invalidateSize({ animate: false });
    map.setView(before.centre, before.zoom, { animate: false });
    draw();
  });
}

function mapColours() {
  const names = ["truth", "chosen", "heat", "centroid", "halo", "rim", "grid"];
  return Object.fromEntries(names.map((name) => [name, resolvedColour(name)]));
}

function shownGround(ground, { configuration, attack, target }) {
  const truth = ground.truth.get(keyOf(target))?.();
  const found = ground.found.get(keyOf(configuration, attack, target))?.() ?? NOTHING;
  if (truth) truth.centroids ??= centroidsOf(truth);
  found.cloud.spacing ??= spacingOf(found.cloud);
  return {
    truth,
    centroids: truth?.centroids ?? new Map(),
    chosen: ground.chosen.get(keyOf(configuration, target))?.(),
    ...found,
  };
}

function hasHeat(cloud) {
  return [...cloud.parts.values()].some(({ from, to }) => to - from > 1);
}

// What never changes: the area and the tower.
function addFixed(map, ground, hasTiles) {
  map.createPane("area").style.zIndex = 205;
  const className = hasTiles ? "area" : "area filled";
  L.polygon(ground.area, { className, interactive: false, pane: "area" }).addTo(map);
  if (!ground.tower) return;
  const icon = L.divIcon({ className: "tower", iconSize: [18, 18] });
  L.marker(ground.tower, { icon, interactive: false, keyboard: false }).addTo(map);
}

// The predicted signal as a picture below the points.
class SignalLayer {
  #map;
  #signal;
  #pictures = new Map();
  #overlay = null;
  #isShown = false;
  #configuration = null;

  constructor(map, signal) {
    this.#map = map;
    this.#signal = signal;
    map.createPane("signal").style.zIndex = 250;
  }

  get isShown() {
    return this.#isShown;
  }

  set isShown(isShown) {
    this.#isShown = isShown;
    this.#update();
  }

  get isKnown() {
    return Boolean(this.#packed());
  }

  show(configuration) {
    this.#configuration = configuration;
    this.#update();
  }

  // A picture moves with the map by itself.
  redraw() {}

  draw() {}

  #packed() {
    return this.#signal?.maps.find((each) => each.configuration === this.#configuration);
  }

  #update() {
    this.#overlay?.remove();
    const packed = this.#packed();
    if (!this.#isShown || !packed) return;
    if (!this.#pictures.has(packed)) this.#pictures.set(packed, signalPicture(packed));
    const [south, west, north, east] = packed.box;
    this.#overlay = L.imageOverlay(this.#pictures.get(packed), [[south, west], [north, east]], {
      pane: "signal",
      className: "signal",
      alt: "",
    }).addTo(this.#map);
  }
}

function signalPicture({ rows, columns, codes }) {
  const canvas = make("canvas", { width: columns, height: rows });
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  bytesOf(codes).forEach((code, index) => {
    if (code > 0) image.data.set([...viridis((code - 1) / 254), 255], 4 * index);
  });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

function connectSwitches(layers, ground) {
  const kinds = [
    ["truth", "real points", true],
    ["centroids", "centroid of a round", true],
    ["chosen", "points that the defence chose", true],
    ["heat", "heat map of the attack", true],
    ["found", "found by the attack", true],
    ["signal", "predicted signal", false],
  ].filter(([name]) => name !== "signal" || ground.signal);
  const switches = {};
  for (const [name, label, isOn] of kinds) {
    const input = make("input", { type: "checkbox", id: `layer-${name}`, checked: isOn });
    const change = () => {
      layers[name].isShown = input.checked;
      if (name === "centroids") layers.found.redraw();
      byId("signal-key")?.toggleAttribute("hidden", !layers.signal.isShown);
    };
    input.addEventListener("change", change);
    const swatch = make("span", { class: `swatch ${name}`, "aria-hidden": "true" });
    byId("layers").append(make("label", {}, input, swatch, make("span", {}, label)));
    if (name === "found") byId("layers").append(foundKey(ground));
    if (name === "signal") byId("layers").append(signalKey(ground.signal));
    switches[name] = input;
    change();
  }
  byId("layers").append(fixedKey(ground));
  return switches;
}

function colourBar(low, high, words) {
  const stops = VIRIDIS.map(rgb).join(", ");
  return make(
    "div",
    { class: "colour-bar", role: "img", "aria-label": words },
    make("span", {}, low),
    make("span", { class: "ramp", style: { background: `linear-gradient(to right, ${stops})` } }),
    make("span", {}, high),
  );
}

function foundKey({ rounds }) {
  const [first, last] = [rounds[0], rounds.at(-1)];
  const shapes = make(
    "ul",
    { class: "shapes" },
    make("li", {}, make("span", { class: "swatch outside", "aria-hidden": "true" }), "outside the area"),
    make("li", {}, make("span", { class: "swatch beyond", "aria-hidden": "true" }), "beyond the view"),
  );
  const bar = colourBar(`round ${first}`, String(last), `Colours from round ${first}, dark, to round ${last}, light`);
  return make("div", { class: "key" }, bar, shapes);
}

function signalKey({ lowDbm, highDbm }) {
  const [low, high] = [written(lowDbm), written(highDbm)];
  const words = `Colours from ${low} dBm, dark, to ${high} dBm, light`;
  return make("div", { class: "key", id: "signal-key", hidden: true }, colourBar(low, `${high} dBm`, words));
}

function fixedKey({ tower }) {
  const item = (name, text) => make("li", {}, make("span", { class: `swatch ${name}`, "aria-hidden": "true" }), text);
  return make("ul", { class: "shapes fixed" }, item("outline", "public area"), tower ? item("mast", "tower") : null);
}

function captionOf(data, selection, { locations, truth }) {
  const { round } = selection;
  const outside = locations.filter((each) => !each.isInside).length;
  const nowhere = data.rounds.length - new Set(locations.map((each) => each.round)).size;
  if (round === null) {
    const left = `${written(outside)} of ${plural(data.rounds.length, "round")} left the area`;
    const none = nowhere ? `; in ${written(nowhere)} nothing was found` : "";
    return `${plural(truth?.size ?? 0, "real point")} in ${plural(data.rounds.length, "round")}. ${left}${none}.`;
  }
  const part = truth?.parts.get(round);
  const location = locations.find((each) => each.round === round);
  const own = ofSelection(data.history, selection).find((row) => row.round === round);
  const far = typeof own?.distance_m === "number" ? `, ${written(own.distance_m)} m from their centroid` : "";
  const where = location ? `The attack's location is ${location.isInside ? "inside" : "outside"} the area${far}` : "The attack found nothing";
  return `${plural(part ? part.to - part.from : 0, "real point")} in this round. ${where}.`;
}
