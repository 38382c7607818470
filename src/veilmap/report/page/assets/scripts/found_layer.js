// The locations that the attack found, coloured by round; those outside the area look different, and
// those beyond the view point to where they are.

const EDGE = 16; // from the edge of the view to an arrow's middle, in pixels
const FOUND = 6; // a mark's radius

function paintFound(context, view, locations, round, colourOf, colours) {
  for (const location of shownOf(locations, round)) {
    const place = placeOf(location, view);
    const shape = shapeOf(location, place);
    context.lineJoin = "round";
    context.fillStyle = colourOf(location.round);
    for (const [colour, width] of [
      [colours.halo, 4],
      [colours.rim, 1.6],
    ]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.stroke(shape);
    }
    context.fill(shape);
  }
}

// How far the attack was off in the round that is looked at.
function paintError(context, view, locations, centroids, round, colours) {
  const [location] = round === null ? [] : shownOf(locations, round);
  const centroid = centroids.get(round);
  if (!location || !centroid) return;
  const place = placeOf(location, view);
  context.strokeStyle = colours.centroid;
  context.lineWidth = 1.5;
  context.setLineDash([2, 4]);
  context.beginPath();
  context.moveTo(centroid.x * view.scale - view.left, centroid.y * view.scale - view.top);
  context.lineTo(place.x, place.y);
  context.stroke();
  context.setLineDash([]);
}

function shownOf(locations, round) {
  return locations.filter((location) => round === null || location.round === round);
}

// In the view, or at its edge on the way from its middle to the location.
function placeOf({ x, y }, { width, height, scale, left, top }) {
  const [column, row] = [x * scale - left, y * scale - top];
  const [east, south] = [column - width / 2, row - height / 2];
  const beyond = Math.max(
    Math.abs(east) / (width / 2 - EDGE),
    Math.abs(south) / (height / 2 - EDGE),
  );
  if (beyond <= 1) return { x: column, y: row, isBeyond: false };
  return {
    x: width / 2 + east / beyond,
    y: height / 2 + south / beyond,
    isBeyond: true,
    turn: Math.atan2(south, east),
  };
}

function shapeOf({ isInside }, { x, y, isBeyond, turn }) {
  const shape = new Path2D();
  if (isBeyond) {
    shape.addPath(
      new Path2D("M10 0L-7 -7.5L-3 0L-7 7.5Z"),
      new DOMMatrix().translate(x, y).rotate((turn * 180) / Math.PI),
    );
  } else if (isInside) {
    shape.arc(x, y, FOUND, 0, 2 * Math.PI);
  } else {
    shape.addPath(new Path2D("M0 -8L8 0L0 8L-8 0Z"), new DOMMatrix().translate(x, y));
  }
  return shape;
}
