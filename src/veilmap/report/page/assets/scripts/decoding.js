// The packed numbers of the page, unpacked.

const WORLD = 256; // Leaflet's width of the world at zoom 0, in pixels

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

// The page's tables: names once, then values; here rows with names again.
function rowsOf({ columns, values }) {
  return values.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
}

// Points as pixels of the world at zoom 0 (Web Mercator), so that drawing is one product and one sum.
// `from` and `to` say by round where its points are.
function pointsOf({ box: [south, west, north, east], rounds, counts, points }) {
  const bytes = bytesOf(points);
  const view = new DataView(bytes.buffer);
  const size = bytes.length / 4;
  const x = new Float64Array(size);
  const y = new Float64Array(size);
  for (let index = 0; index < size; index++) {
    y[index] = worldY(south + (view.getUint16(4 * index, true) / 65535) * (north - south));
    x[index] = worldX(west + (view.getUint16(4 * index + 2, true) / 65535) * (east - west));
  }
  return { x, y, size, parts: partsOf(rounds, counts) };
}

function partsOf(rounds, counts) {
  const parts = new Map();
  let from = 0;
  rounds.forEach((round, index) => {
    parts.set(round, { from, to: from + counts[index] });
    from += counts[index];
  });
  return parts;
}

function worldX(lonDeg) {
  return (WORLD * (lonDeg + 180)) / 360;
}

function worldY(latDeg) {
  const sine = Math.sin((Math.min(Math.max(latDeg, -85), 85) * Math.PI) / 180);
  return WORLD * (0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI));
}

// Shares of the weight of a round, from 8 bits of their square roots.
function weightsOf({ largest, roots }) {
  return Float64Array.from(bytesOf(roots), (root) => largest * (root / 255) ** 2);
}

// Unpacked on first use: few readers look at all configurations.
function lazily(unpack) {
  let value = null;
  return () => (value ??= unpack());
}

// Of names, or of a list of them.
function keyOf(...names) {
  return JSON.stringify(names.flat());
}

// The ground with its parts by name: `truth.get(keyOf(target))()` and so on.
function decodeGround(ground) {
  if (!ground) return null;
  const byNames = (pairs, unpack) =>
    new Map(pairs.map(([names, packed]) => [keyOf(names), unpack(packed)]));
  const points = (packed) => lazily(() => pointsOf(packed));
  const found = ({ locations, cloud }) =>
    lazily(() => ({
      locations: locationsOf(locations),
      cloud: { ...pointsOf(cloud), weights: weightsOf(cloud) },
    }));
  return {
    ...ground,
    truth: byNames(ground.truth, points),
    chosen: byNames(ground.chosen, points),
    found: byNames(ground.found, found),
    homes: byNames(ground.homes, placeOnWorld),
    named_homes: byNames(ground.named_homes, placeOnWorld),
  };
}

function placeOnWorld([latDeg, lonDeg]) {
  return { x: worldX(lonDeg), y: worldY(latDeg) };
}

function locationsOf({ lat, lon, rounds, inside }) {
  return rounds.map((round, index) => ({
    round,
    x: worldX(lon[index]),
    y: worldY(lat[index]),
    isInside: inside[index],
  }));
}
