// Colours: those with a name stand in palette.css, for light and dark; here are the rest.

// Nine of viridis' colours, evenly spaced: told apart by the colour-blind, and also in grey.
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
const FAMILIES = ["centre", "random", "diverse", "farthest", "dp", "geoind", "gan"];
const COMBINED = 4;
const ATTACK_COLOURS = 6;

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

function attackColour(index) {
  return `var(--attack-${index % ATTACK_COLOURS})`;
}

// The steps without their settings: `diverse` of `fedavg + diverse:eps_m=50`.
function familyOf(configuration) {
  const [, ...steps] = configuration.split(" + ");
  return steps.map((step) => step.split(":")[0]).join(" + ") || "no defence";
}

function schemeOf(configuration) {
  return configuration.split(" + ")[0].split(":")[0];
}

// Colour and mark of each configuration; a family looks the same as in our other pictures, and is
// hollow with another scheme than the first one's.
function familyStyles(names) {
  return namedStyles(names).map((style, index) => {
    const scheme = schemeOf(names[index]);
    const isHollow = scheme !== schemeOf(names[0]);
    return { ...style, isHollow, family: isHollow ? `${style.family} (${scheme})` : style.family };
  });
}

function namedStyles(names) {
  const combined = [...new Set(names.map(familyOf))].filter(
    (family) => family !== "no defence" && !FAMILIES.includes(family),
  );
  return names.map((name) => {
    const family = familyOf(name);
    if (family === "no defence") return { family, colour: "var(--defence-none)", mark: "star" };
    const place = FAMILIES.indexOf(family);
    if (place >= 0) return { family, colour: `var(--defence-${family})`, mark: family };
    const index = combined.indexOf(family) % COMBINED;
    return { family, colour: `var(--combined-${index})`, mark: `combined-${index}` };
  });
}
