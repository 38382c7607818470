// From values to pixels, and the round values that an axis shows.

const MOST_DECADES = 1e5;

// {low, high, ticks, share: value => 0..1}
function linearScale(values, { from = null, count = 7 } = {}) {
  const known = values.filter((value) => Number.isFinite(value));
  let low = from ?? Math.min(...known);
  let high = Math.max(...known, low);
  if (known.length === 0) [low, high] = [0, 1];
  if (low === high) [low, high] = from === null ? [low - 0.5, high + 0.5] : [low, low + 1];
  const margin = 0.06 * (high - low);
  if (from === null) low -= margin;
  high += margin;
  const step = roundStep((high - low) / count);
  const ticks = [];
  for (let tick = Math.ceil(low / step); tick * step <= high; tick++) ticks.push(tick * step || 0); // no −0
  const digits = Math.max(-Math.floor(Math.log10(step) + 1e-9), 0);
  return {
    low,
    high,
    ticks: ticks.map((value) => ({ value, text: written(value, digits) })),
    share: (value) => (value - low) / (high - low),
  };
}

// What is smaller than the axis reaches lies on it.
function logScale(values) {
  const high = Math.max(...values) * 1.3;
  const low = Math.max(Math.min(...values) / 1.3, high / MOST_DECADES);
  // Fewer than three decades have too few powers of ten to read a value off.
  const digits = high < 1000 * low ? [1, 2, 5] : [1];
  const powers = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) powers.push(power);
  const every = Math.ceil(powers.length / 7);
  const ticks = powers
    .filter((_, index) => index % every === 0)
    .flatMap((power) => digits.map((digit) => digit * 10 ** power))
    .filter((value) => value >= low && value <= high);
  return {
    low,
    high,
    isLog: true,
    ticks: ticks.map((value) => ({ value, text: short(value) })),
    share: (value) => Math.log(Math.max(value, low) / low) / Math.log(high / low),
  };
}

// Logarithmic where the values span more than a decade.
function fittingScale(values) {
  const known = values.filter((value) => Number.isFinite(value));
  const low = Math.min(...known);
  return low > 0 && Math.max(...known) > 10 * low
    ? logScale(known)
    : linearScale(known, { from: low >= 0 ? 0 : null });
}

// Whole numbers in a row, such as rounds.
function roundScale(rounds, width) {
  const low = Math.min(...rounds) - 0.4;
  const high = Math.max(...rounds) + 0.4;
  const every = Math.max(Math.ceil((rounds.length * 26) / width), 1);
  return {
    low,
    high,
    ticks: rounds
      .filter((_, index) => index % every === 0)
      .map((value) => ({ value, text: String(value) })),
    share: (value) => (value - low) / (high - low),
  };
}

// The next larger of 1, 2, 5, 10 …
function roundStep(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  return [1, 2, 5, 10].map((digit) => digit * power).find((each) => each >= step * 0.999);
}
