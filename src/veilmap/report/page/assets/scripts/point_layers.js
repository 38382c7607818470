// Where the target was, the points that a defence chose, and the lines of the grid below them.

const TRUE_DOT = 3.4; // a point's width in pixels
const CHOSEN_DOT = 5;
const FAINT = 0.3; // of the other rounds, when one is looked at

function paintTrack(context, view, points, round, colour, width) {
  if (!points) return;
  const image = new DotImage(view, colour, width);
  if (round === null) {
    image.add(points, { from: 0, to: points.size }, 1);
  } else {
    image.add(points, { from: 0, to: points.size }, FAINT);
    image.add(points, points.parts.get(round) ?? { from: 0, to: 0 }, 1);
  }
  image.paintOn(context);
}

// Dots written into pixels: a hundred thousand circles would take a canvas half a second.
class DotImage {
  #view;
  #dot;
  #ratio = window.devicePixelRatio || 1;
  #width;
  #height;
  #image;
  #pixels;
  #colour;

  constructor(view, colour, dot) {
    this.#view = view;
    this.#dot = dot;
    this.#width = Math.round(view.width * this.#ratio);
    this.#height = Math.round(view.height * this.#ratio);
    this.#image = new ImageData(this.#width, this.#height);
    this.#pixels = new Uint32Array(this.#image.data.buffer);
    const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
    this.#colour = (blue << 16) | (green << 8) | red;
  }

  add({ x, y }, { from, to }, opacity) {
    const { scale, left, top } = this.#view;
    const [width, height, ratio, pixels] = [this.#width, this.#height, this.#ratio, this.#pixels];
    const { offsets, values, reach } = this.#stamp(opacity);
    for (let index = from; index < to; index++) {
      const column = Math.round((x[index] * scale - left) * ratio);
      const row = Math.round((y[index] * scale - top) * ratio);
      if (column < reach || row < reach || column >= width - reach || row >= height - reach)
        continue;
      const middle = row * width + column;
      for (let part = 0; part < offsets.length; part++) {
        const place = middle + offsets[part];
        // The opacity is the highest byte: where dots overlap, the more opaque stays.
        if (values[part] > pixels[place]) pixels[place] = values[part];
      }
    }
  }

  paintOn(context) {
    const canvas = make("canvas", { width: this.#width, height: this.#height });
    canvas.getContext("2d").putImageData(this.#image, 0, 0);
    context.drawImage(canvas, 0, 0, this.#view.width, this.#view.height);
  }

  // A disc with a soft rim: how far each pixel is from the middle, and its value.
  #stamp(opacity) {
    const radius = (this.#dot / 2) * this.#ratio;
    const reach = Math.ceil(radius);
    const [offsets, values] = [[], []];
    for (let row = -reach; row <= reach; row++) {
      for (let column = -reach; column <= reach; column++) {
        const cover = Math.min(Math.max(radius + 0.5 - Math.hypot(row, column), 0), 1);
        if (cover === 0) continue;
        offsets.push(row * this.#width + column);
        values.push(((Math.round(255 * cover * opacity) << 24) | this.#colour) >>> 0);
      }
    }
    return { offsets: Int32Array.from(offsets), values: Uint32Array.from(values), reach };
  }
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
    for (const [colour, width] of [
      [colours.halo, 4.5],
      [colours.centroid, 2],
    ]) {
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
