// Where the labels of points go, so that they cover neither each other nor a point.

const LETTER = 6.3; // the width of a letter on average, and the height of a line, in pixels
const LINE = 14;
const DIRECTIONS = [
  // the best first
  [1, -1, "start"],
  [-1, -1, "end"],
  [1, 1, "start"],
  [-1, 1, "end"],
  [0, -1, "middle"],
  [0, 1, "middle"],
  [1, 0, "start"],
  [-1, 0, "end"],
];

// Points: {x, y, text}; `boxes` are to be kept free as well. Gives for each {x, y, anchor}. One after the other takes the best place left,
// first near, then farther off.
function labelPlaces(points, frame, boxes) {
  const marks = points.map(({ x, y }) => ({
    left: x - 7,
    right: x + 7,
    top: y - 7,
    bottom: y + 7,
  }));
  const taken = [...marks, ...boxes];
  return points.map((point) => {
    const candidates = [9, 18, 30].flatMap((reach, ring) =>
      DIRECTIONS.map(([east, south, anchor], index) => {
        const place = { x: point.x + east * reach, y: point.y + south * reach + 4, anchor };
        const box = boxOf(place, point.text);
        return { place, box, price: priceOf(box, taken, frame) + ring * 60 + index };
      }),
    );
    const best = candidates.reduce((one, other) => (other.price < one.price ? other : one));
    taken.push(best.box);
    return best.place;
  });
}

function boxOf({ x, y, anchor }, text) {
  const width = text.length * LETTER;
  const left = { start: x, middle: x - width / 2, end: x - width }[anchor];
  return { left, right: left + width, top: y - LINE + 3, bottom: y + 3 };
}

function priceOf(box, taken, frame) {
  const outside =
    Math.max(frame.left - box.left, 0) +
    Math.max(box.right - frame.right, 0) +
    Math.max(frame.top - box.top, 0) +
    Math.max(box.bottom - frame.bottom, 0);
  return outside * 100 + taken.reduce((sum, other) => sum + sharedArea(box, other), 0);
}

function sharedArea(one, other) {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return width > 0 && height > 0 ? width * height : 0;
}
