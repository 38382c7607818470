// The true home, filled; the one that the attack names, hollow; and how far they are apart. Both are of
// all rounds, and stay when one round is looked at.

const HOUSE = new Path2D("M0 -8.5L8.5 0H6V8H-6V0H-8.5Z");
const NAMED = 1.4; // larger, so that both are seen where the attack is right

function paintHomes(context, view, home, namedHome, colours) {
  context.lineJoin = "round";
  if (home && namedHome) strokeWithHalo(context, wayBetween(home, namedHome, view), colours);
  if (home) {
    const house = houseAt(home, view, 1);
    strokeWithHalo(context, house, colours);
    context.fillStyle = colours.home;
    context.fill(house);
  }
  if (namedHome) strokeWithHalo(context, houseAt(namedHome, view, NAMED), colours);
}

function strokeWithHalo(context, path, colours) {
  for (const [colour, width] of [
    [colours.halo, 4.5],
    [colours.home, 1.8],
  ]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.stroke(path);
  }
}

function houseAt({ x, y }, { scale, left, top }, size) {
  const house = new Path2D();
  house.addPath(HOUSE, new DOMMatrix().translate(x * scale - left, y * scale - top).scale(size));
  return house;
}

function wayBetween(home, namedHome, { scale, left, top }) {
  const way = new Path2D();
  way.moveTo(home.x * scale - left, home.y * scale - top);
  way.lineTo(namedHome.x * scale - left, namedHome.y * scale - top);
  return way;
}
