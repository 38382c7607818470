// Where the target was, the points that a defence chose, and the lines of the grid below them.

const DOT = 4; // a point's width in pixels
const FAINT = 0.3; // of the other rounds, when one is looked at

function paintTrack(context, view, points, round, colour) {
  if (!points) return;
  const whole = { from: 0, to: points.size };
  if (round === null) {
    paintDots(context, view, points, whole, colour, 1);
    return;
  }
  paintDots(context, view, points, whole, colour, FAINT);
  paintDots(context, view, points, points.parts.get(round) ?? { from: 0, to: 0 }, colour, 1);
}

// A phone measures thousands of times at home: of the points in one pixel one is drawn.
function paintDots(context, { width, height, scale, left, top }, { x, y }, { from, to }, colour, opacity) {
  const taken = new Uint8Array(width * height);
  const dot = dotOf(colour);
  context.globalAlpha = opacity;
  for (let index = from; index < to; index++) {
    const column = Math.round(x[index] * scale - left);
    const row = Math.round(y[index] * scale - top);
    if (column < 0 || row < 0 || column >= width || row >= height || taken[row * width + column]) continue;
    taken[row * width + column] = 1;
    context.drawImage(dot, column - DOT / 2, row - DOT / 2, DOT, DOT);
  }
  context.globalAlpha = 1;
}

function dotOf(colour) {
  const size = Math.round(DOT * (window.devicePixelRatio || 1));
  const dot = make("canvas", { width: size, height: size });
  const context = dot.getContext("2d");
  context.fillStyle = colour;
  context.arc(size / 2, size / 2, size / 2, 0, 2 * Math.PI);
  context.fill();
  return dot;
}

// The middle of each round's points: what an attack that finds one location can find at best.
function centroidsOf(points) {
  const centroids = new Map();
  for (const [round, { from, to }] of points.parts) {
    let [x, y] = [0, 0];
    for (let index = from; index < to; index++) {
      x += points.x[index];
      y += points.y[index];
    }
    centroids.set(round, { x: x / (to - from), y: y / (to - from) });
  }
  return centroids;
}

function paintCentroids(context, { scale, left, top }, centroids, round, colours) {
  for (const [own, { x, y }] of centroids) {
    if (round !== null && own !== round) continue;
    const [column, row] = [x * scale - left, y * scale - top];
    const arms = new Path2D(`M${column - 6} ${row}h12M${column} ${row - 6}v12`);
    for (const [colour, width] of [[colours.halo, 4.5], [colours.centroid, 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.stroke(arms);
    }
  }
}

// Squares of a round size from the area's corner, so that distances can be read off without tiles.
function paintGrid(context, view, corner, metres, colour) {
  const step = roundStep(metres * 60) / metres;
  const [startX, startY] = [corner.x * view.scale - view.left, corner.y * view.scale - view.top];
  const lines = new Path2D();
  for (let x = ((startX % step) + step) % step; x < view.width; x += step) {
    lines.moveTo(Math.round(x) + 0.5, 0);
    lines.lineTo(Math.round(x) + 0.5, view.height);
  }
  for (let y = ((startY % step) + step) % step; y < view.height; y += step) {
    lines.moveTo(0, Math.round(y) + 0.5);
    lines.lineTo(view.width, Math.round(y) + 0.5);
  }
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke(lines);
}
