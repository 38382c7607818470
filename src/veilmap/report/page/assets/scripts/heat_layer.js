// The attack's heat map: where it sees the weight of the user's points.

const COARSE = 2; // pixels of the view in one of the heat map's
const LEAST_RADIUS = 7;
const MOST_RADIUS = 40;

function paintHeat(context, view, cloud, sizes, round, colour) {
  const cells = cellsOf(cloud, sizes, round);
  if (cells.length === 0) return;
  const radius = Math.min(Math.max(1.2 * cloud.spacing * view.scale, LEAST_RADIUS), MOST_RADIUS);
  const width = Math.ceil(view.width / COARSE);
  const height = Math.ceil(view.height / COARSE);
  const heat = new Float32Array(width * height);
  for (const { x, y, weight } of cells) {
    addBump(
      heat,
      width,
      height,
      (x * view.scale - view.left) / COARSE,
      (y * view.scale - view.top) / COARSE,
      radius / COARSE,
      weight,
    );
  }
  context.drawImage(picture(heat, width, height, colour), 0, 0, width * COARSE, height * COARSE);
}

// Rounds count by the points trained on, which a server knows. A round in which the attack sees one
// location only has no heat map.
function cellsOf(cloud, sizes, round) {
  const cells = [];
  for (const [own, { from, to }] of cloud.parts) {
    if ((round !== null && own !== round) || to - from < 2) continue;
    const size = sizes?.has(own) ? sizes.get(own).to - sizes.get(own).from : 1;
    for (let index = from; index < to; index++) {
      cells.push({ x: cloud.x[index], y: cloud.y[index], weight: size * cloud.weights[index] });
    }
  }
  return cells;
}

// Between neighbours on the attack's own grid: the median of the distances to the nearest other cell.
function spacingOf(cloud) {
  const distances = [];
  for (const { from, to } of cloud.parts.values()) {
    const last = Math.min(to, from + 400); // enough to know, in a cloud of any size
    for (let one = from; one < last; one++) {
      let nearest = Infinity;
      for (let other = from; other < last; other++) {
        const distance = Math.hypot(cloud.x[one] - cloud.x[other], cloud.y[one] - cloud.y[other]);
        if (distance > 0 && distance < nearest) nearest = distance;
      }
      if (nearest < Infinity) distances.push(nearest);
    }
    if (distances.length > 800) break;
  }
  distances.sort((one, other) => one - other);
  return distances[Math.floor(distances.length / 2)] ?? 0;
}

function addBump(heat, width, height, x, y, radius, weight) {
  const [left, right] = [
    Math.max(Math.ceil(x - radius), 0),
    Math.min(Math.floor(x + radius), width - 1),
  ];
  const [top, bottom] = [
    Math.max(Math.ceil(y - radius), 0),
    Math.min(Math.floor(y + radius), height - 1),
  ];
  for (let row = top; row <= bottom; row++) {
    for (let column = left; column <= right; column++) {
      const share = 1 - ((column - x) ** 2 + (row - y) ** 2) / radius ** 2;
      if (share > 0) heat[row * width + column] += weight * share * share;
    }
  }
}

// Opacity by a power below 1: a home would leave the ways no colour. The square root of our other
// pictures is too much for opacity, with which every faint cell would show.
function picture(heat, width, height, colour) {
  const canvas = make("canvas", { width, height });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
  const most = heat.reduce((one, other) => Math.max(one, other), 0) || 1;
  for (let index = 0; index < heat.length; index++) {
    if (heat[index] === 0) continue;
    image.data.set([red, green, blue, 200 * (heat[index] / most) ** 0.7], 4 * index);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}
