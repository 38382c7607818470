// Figures: what they are called, how they are written, and their median over runs.

const FIGURES = {
  home_error_m: { label: "Home error", unit: "m", digits: 0 },
  emd_paper: { label: "EMD", unit: "√m", digits: 1 },
  distance_m: { label: "Distance to the centroid", unit: "m", digits: 0 },
  nearest_m: { label: "Distance to a true point", unit: "m", digits: 0 },
};

// The guesses that see no message.
const GUESSES = {
  blind: { label: "Blind guess" },
  prior: { label: "Guess from others' places" },
};

const NONE = "–";

// Where the data of no target name a home, the error is that of the heaviest place.
function nameHomeError(rows) {
  if (rows.length && rows.every((row) => row.true_home_by === "weight"))
    FIGURES.home_error_m.label = "Error of the heaviest place";
}

function written(value, digits = 0) {
  if (value === null || value === undefined) return NONE;
  // A minus sign, because a hyphen may break from its number.
  return value
    .toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })
    .replace("-", "−");
}

function percent(share) {
  if (share === null || share === undefined) return NONE;
  return `${written(100 * share, share > 0 && share < 0.0095 ? 1 : 0)} %`;
}

// Three digits that count, for figures whose size is not known beforehand.
function short(value) {
  if (value === null || value === undefined) return NONE;
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1).replace("e-", "e−");
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}

// With the range, where it shows.
function spread({ median, least, most }, digits) {
  const [middle, low, high] = [median, least, most].map((value) => written(value, digits));
  return low === high ? middle : `${middle} (${low}\u00a0to\u00a0${high})`;
}

// Of the two middle values the lower: a mean of 10 m and 2,280 m would describe neither.
function medianOf(values) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.ceil(sorted.length / 2) - 1];
}

// As the configurations have it: over all seeds and targets; a run without the figure counts as
// infinitely far.
function spreadOverRuns(rows, figure) {
  const known = rows.map((row) => row[figure]).filter((value) => typeof value === "number");
  const median = medianOf([...known, ...Array(rows.length - known.length).fill(Infinity)]);
  return Number.isFinite(median)
    ? { median, least: Math.min(...known), most: Math.max(...known) }
    : null;
}

// No message is needed for them, so nothing hides more than the nearest of them leaves.
function nearestGuess(configuration, figure) {
  const guesses = configuration.guesses[figure] ?? [];
  return guesses.reduce(
    (best, each) => (best && best.figure.median <= each.figure.median ? best : each),
    undefined,
  );
}

function shortened(text, letters) {
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

function plural(count, noun) {
  return `${written(count)} ${noun}${count === 1 ? "" : "s"}`;
}
