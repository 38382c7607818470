// Figures: what they are called, how they are written, and their mean over seeds.

const FIGURES = {
  home_error_m: { label: "Error of the home", unit: "m", digits: 0 },
  emd_paper: { label: "EMD", unit: "√m", digits: 1 },
  distance_m: { label: "Distance to the centroid", unit: "m", digits: 0 },
  nearest_m: { label: "Distance to a true point", unit: "m", digits: 0 },
};

const NONE = "–";

function written(value, digits = 0) {
  if (value === null || value === undefined) return NONE;
  // A minus sign, because a hyphen may break from its number.
  return value
    .toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })
    .replace("-", "−");
}

function percent(share) {
  return share === null || share === undefined ? NONE : `${written(100 * share)} %`;
}

// Three digits that count, for figures whose size is not known beforehand.
function short(value) {
  if (value === null || value === undefined) return NONE;
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1).replace("e-", "e−");
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}

function spread({ mean, std }, digits) {
  return std > 0
    ? `${written(mean, digits)}\u00a0±\u00a0${written(std, digits)}`
    : written(mean, digits);
}

function meanOf(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

// As the configurations have it: the mean over the seeds of the mean over the targets.
function spreadOverSeeds(rows, figure) {
  const known = rows.filter((row) => typeof row[figure] === "number");
  if (known.length === 0) return null;
  const values = [...new Set(known.map((row) => row.seed))].map((seed) =>
    meanOf(known.filter((row) => row.seed === seed).map((row) => row[figure])),
  );
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, std: values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0 };
}

function shortened(text, letters) {
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

function plural(count, noun) {
  return `${written(count)} ${noun}${count === 1 ? "" : "s"}`;
}
