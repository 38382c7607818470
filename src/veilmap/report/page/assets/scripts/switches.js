// The switches of the layers, which are also the legend of the map.

function connectSwitches(layers, ground) {
  const kinds = [
    ["truth", "real points", true],
    ["centroids", "centroid of a round", true],
    ["chosen", "points that the defence chose", true],
    ["heat", "heat map of the attack", true],
    ["found", "found by the attack", true],
    ["home", "home or heaviest place, true and named", true],
    ["signal", "predicted signal", false],
  ].filter(([name]) => name !== "signal" || ground.signal);
  const keys = { found: foundKey, home: homeKey, signal: signalKey };
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
    if (keys[name]) byId("layers").append(keys[name](ground));
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
    keyItem("outside", "outside the area"),
    keyItem("beyond", "beyond the view"),
  );
  const bar = colourBar(
    `round ${first}`,
    String(last),
    `Colours from round ${first}, dark, to round ${last}, light`,
  );
  return make("div", { class: "key" }, bar, shapes);
}

function homeKey() {
  const shapes = make("ul", { class: "shapes" }, keyItem("named-home", "named by the attack"));
  return make("div", { class: "key" }, shapes);
}

function signalKey({ signal: { low_dbm, high_dbm } }) {
  const [low, high] = [written(low_dbm), written(high_dbm)];
  const words = `Colours from ${low} dBm, dark, to ${high} dBm, light`;
  return make(
    "div",
    { class: "key", id: "signal-key", hidden: true },
    colourBar(low, `${high} dBm`, words),
  );
}

function fixedKey({ tower }) {
  return make(
    "ul",
    { class: "shapes fixed" },
    keyItem("outline", "area"),
    tower ? keyItem("mast", "tower") : null,
  );
}

function keyItem(name, text) {
  return make("li", {}, make("span", { class: `swatch ${name}`, "aria-hidden": "true" }), text);
}
