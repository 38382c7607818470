// The map and its layers.

const NOTHING = { locations: [], cloud: { parts: new Map(), weights: [], spacing: 0 } };

function connectMap(data, selection) {
  const map = blankMap(data.ground, data.tiles);
  const colours = mapColours();
  const layers = layersOf(map, data, selection, colours);
  const grid = data.tiles ? [] : [gridOf(map, data.ground, colours)];
  const all = [...grid, ...Object.values(layers)];
  addFixed(map, data.ground, Boolean(data.tiles));
  followSelection(data, selection, layers, connectSwitches(layers, data.ground));
  whenColoursChange(() => {
    Object.assign(colours, mapColours());
    for (const each of all) each.redraw();
  });
  fitToPaper(map, () => {
    Object.assign(colours, mapColours());
    for (const each of all) each.draw();
  });
}

// By name, from the lowest to the highest.
function layersOf(map, { ground }, selection, colours) {
  const shown = () => shownGround(ground, selection);
  const colourOf = (round) => roundColour(ground.rounds.indexOf(round), ground.rounds.length);
  const layer = (name, zIndex, paint) =>
    new CanvasLayer(map, name, zIndex, (context, view) =>
      paint(context, view, shown(), selection.round),
    );
  const layers = {
    signal: new SignalLayer(map, ground.signal),
    truth: layer("truth", 410, (context, view, { truth }, round) => {
      paintTrack(context, view, truth, round, colours.truth, TRUE_DOT);
    }),
    heat: layer("heat", 420, (context, view, { cloud, sizes }, round) => {
      paintHeat(context, view, cloud, sizes, round, colours.heat);
    }),
    chosen: layer("chosen", 430, (context, view, { chosen }, round) => {
      paintTrack(context, view, chosen, round, colours.chosen, CHOSEN_DOT);
    }),
    centroids: layer("centroids", 440, (context, view, { centroids }, round) => {
      paintCentroids(context, view, centroids, round, colours);
    }),
    found: layer("found", 450, (context, view, { locations, centroids }, round) => {
      if (layers.centroids.isShown) paintError(context, view, locations, centroids, round, colours);
      paintFound(context, view, locations, round, colourOf, colours);
    }),
    home: layer("home", 460, (context, view, { home, namedHome }) => {
      paintHomes(context, view, home, namedHome, colours);
    }),
  };
  return layers;
}

function gridOf(map, { area: [[southDeg, westDeg]] }, colours) {
  const corner = { x: worldX(westDeg), y: worldY(southDeg) };
  return new CanvasLayer(map, "grid", 210, (context, view) => {
    paintGrid(context, view, corner, metresPerPixel(map), colours.grid);
  });
}

function followSelection(data, selection, layers, switches) {
  selection.listen((_, changed) => {
    if (changed.has("configuration")) layers.signal.show(selection.configuration);
    const shown = shownGround(data.ground, selection);
    switches.chosen.disabled = !shown.chosen;
    switches.heat.disabled = !hasHeat(shown.cloud);
    switches.home.disabled = !shown.home && !shown.namedHome;
    if (switches.signal) switches.signal.disabled = !layers.signal.isKnown;
    for (const each of Object.values(layers)) each.redraw();
    byId("map-caption").textContent = captionOf(data, selection, shown);
  });
}

function blankMap(ground, tiles) {
  const map = L.map("map", {
    attributionControl: false, // a sentence below the map says it, as text
    minZoom: 2,
    maxZoom: 22, // an area may be a single place
    zoomSnap: 0.25,
    zoomDelta: 0.5,
    zoomAnimation: false,
    fadeAnimation: false,
    inertia: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    scrollWheelZoom: false, // a page that is scrolled must not get stuck in its map
  });
  map.on("focus", () => map.scrollWheelZoom.enable());
  map.on("blur", () => map.scrollWheelZoom.disable());
  const showAll = () => map.fitBounds(ground.area, { padding: [14, 14], animate: false });
  showAll();
  byId("whole-area").addEventListener("click", showAll);
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
  const names = ["truth", "chosen", "heat", "centroid", "home", "halo", "rim", "grid"];
  return Object.fromEntries(names.map((name) => [name, resolvedColour(name)]));
}

function shownGround(ground, { configuration, attack, target }) {
  const truth = ground.truth.get(keyOf(target))?.();
  const found = ground.found.get(keyOf(configuration, attack, target))?.() ?? NOTHING;
  if (truth) truth.centroids ??= centroidsOf(truth);
  found.cloud.spacing ??= spacingOf(found.cloud);
  const chosen = ground.chosen.get(keyOf(configuration, target))?.();
  const sizes = (chosen ?? truth)?.parts;
  const home = ground.homes.get(keyOf(target));
  const namedHome = ground.named_homes.get(keyOf(configuration, attack, target));
  const centroids = truth?.centroids ?? new Map();
  return { truth, centroids, chosen, sizes, home, namedHome, ...found };
}

function hasHeat(cloud) {
  return [...cloud.parts.values()].some(({ from, to }) => to - from > 1);
}

// What never changes: the area and the tower.
function addFixed(map, ground, hasTiles) {
  const polygon = (pane, zIndex) => {
    map.createPane(pane).style.zIndex = zIndex;
    L.polygon(ground.area, { className: pane, interactive: false, pane }).addTo(map);
  };
  if (!hasTiles) polygon("area", 205); // below the grid
  polygon("outline", 300); // above the signal
  if (!ground.tower) return;
  const icon = L.divIcon({ className: "tower", iconSize: [18, 18] });
  L.marker(ground.tower, { icon, interactive: false, keyboard: false }).addTo(map);
}
