// Colours: those with a name stand in palette.css, for light and dark, and those of defences and
// attacks in the data; here are the rest.

// Nine of viridis' colours, evenly spaced: safe for the colour-blind, and in grey.
const VIRIDIS = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
];

function viridis(share) {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(place), VIRIDIS.length - 2);
  return VIRIDIS[low].map((value, part) =>
    Math.round(value + (VIRIDIS[low + 1][part] - value) * (place - low)),
  );
}

function rgb([red, green, blue]) {
  return `rgb(${red}, ${green}, ${blue})`;
}

function roundColour(index, rounds) {
  return rgb(viridis(rounds > 1 ? index / (rounds - 1) : 0.5));
}

// A canvas knows no variables; an element that wears the colour tells what it is right now.
function resolvedColour(name) {
  const probe = make("span", { hidden: true, style: { color: `var(--${name})` } });
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

// Colour and mark of each configuration; a family looks the same as in our other pictures, and a
// scheme other than the first one's has hollow or half-filled marks.
function configurationStyles(data, names) {
  return names.map((name) => {
    const { family, scheme, ...look } = data.looks.configurations[name];
    return { ...look, family: look.filling === "full" ? family : `${family} (${scheme})` };
  });
}
