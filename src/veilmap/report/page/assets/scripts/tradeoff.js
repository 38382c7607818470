// RMSE against a figure of privacy, all configurations: left is useful, up is private.

const STRONGEST = "the strongest against each";
const FIRST_FIGURES = ["home_error_m", "emd_paper", "distance_m"];

function connectTradeoff(data) {
  const names = Object.keys(FIGURES);
  const attacks = [STRONGEST, ...data.attacks];
  const attack = byId("tradeoff-attack");
  fillSelect(attack, attacks);
  showLegend(data);
  ["first-figure", "second-figure", "third-figure"].forEach((id, side) => {
    const select = byId(id);
    fillSelect(select, names.map(figureTitle), names.indexOf(FIRST_FIGURES[side]));
    const chart = new ChartFigure();
    byId("tradeoff-charts").append(chart.element);
    const show = () =>
      chart.show(tradeoffContent(data, names[select.value], attacks[attack.value]));
    select.addEventListener("change", show);
    attack.addEventListener("change", show);
    show();
  });
}

function figureTitle(name) {
  return `${FIGURES[name].label} (${FIGURES[name].unit})`;
}

// The numbers beside the points are those of this list and of the table below it.
function showLegend(data) {
  const styles = configurationStyles(
    data,
    data.configurations.map((each) => each.name),
  );
  const items = data.configurations.map(({ name }, index) =>
    legendItem(mark(styles[index], 0, 0), `${index + 1} ${name}`),
  );
  byId("tradeoff-legend").replaceChildren(...items);
}

function tradeoffContent(data, figure, attack) {
  const points = tradeoffPoints(data, figure, attack);
  const frontier = frontierOf(points);
  const { unit, digits, label } = FIGURES[figure];
  const found = points.filter((point) => !(point.attack in GUESSES));
  const by = attack === STRONGEST ? "the strongest attack" : attack;
  const lost = data.configurations
    .map((_, index) => index + 1)
    .filter((number) => !found.some((point) => point.number === number));
  const missing = lost.length ? ` (finds nothing in most runs: ${lost.join(", ")})` : "";
  const title = `${label} (${unit}) against RMSE, by ${by}${missing}`;
  return {
    title,
    description: tradeoffWords(data, points, frontier, figure),
    draw: (width) => drawTradeoff(width, data, points, frontier, figure),
    columns: [
      column(
        "Configuration",
        (row) => row.name,
        (row) => row.name,
        false,
      ),
      column(
        "RMSE, dB",
        (row) => row.rmse.median,
        (row) => spread(row.rmse, 2),
      ),
      column(
        `${label}, ${unit}`,
        (row) => row.figure.median,
        (row) => spread(row.figure, digits),
      ),
      column(
        "Attack",
        (row) => row.attack,
        (row) => row.attack,
        false,
      ),
      column(
        "Frontier",
        (row) => Number(!frontier.includes(row)),
        (row) => (frontier.includes(row) ? "on it" : NONE),
        false,
      ),
    ],
    rows: points,
  };
}

function tradeoffPoints(data, figure, attack) {
  const styles = configurationStyles(
    data,
    data.configurations.map((each) => each.name),
  );
  return data.configurations
    .map((configuration, index) => {
      const { name, rmse_db: rmse, strongest } = configuration;
      const own = data.rows.filter((row) => row.configuration === name && row.attack === attack);
      const guess = nearestGuess(configuration, figure);
      const under =
        attack === STRONGEST ? strongest[figure] : { figure: spreadOverRuns(own, figure), attack };
      // What no attack finds can still be guessed.
      const found = under?.figure ? under : guess;
      const left = Math.min(found?.figure.median ?? Infinity, guess?.figure.median ?? Infinity);
      return { name, rmse, left, number: index + 1, ...styles[index], ...found };
    })
    .filter((point) => Number.isFinite(point.figure?.median) && Number.isFinite(point.rmse.median));
}

// Those that no other beats in both, from the most accurate on; none hides more than a guess leaves.
function frontierOf(points) {
  const isBeaten = (point) =>
    points.some(
      (other) =>
        other.rmse.median <= point.rmse.median &&
        other.left >= point.left &&
        (other.rmse.median < point.rmse.median || other.left > point.left),
    );
  return points
    .filter((point) => !isBeaten(point))
    .sort((one, other) => one.rmse.median - other.rmse.median);
}

function tradeoffWords(data, points, frontier, figure) {
  const { unit, digits } = FIGURES[figure];
  const words = ({ name, rmse, figure: own }) =>
    `${name}: ${written(rmse.median, 2)} dB, ${written(own.median, digits)} ${unit}`;
  return (
    `${plural(points.length, "configuration")}. On the frontier: ${frontier.map(words).join("; ") || "none"}. ` +
    `The constant baseline has ${written(data.rmse_constant_db, 2)} dB.` +
    guessesOf(data, figure)
      .map((each) => ` ${GUESSES[each.attack].label}: ${written(each.figure.median, digits)} ${unit}.`)
      .join("")
  );
}

// Nearly the same under every configuration.
function guessesOf(data, figure) {
  return data.configurations[0]?.guesses[figure] ?? [];
}

function drawTradeoff(width, data, points, frontier, figure) {
  const height = Math.round(Math.min(Math.max(width * 0.72, 280), 400));
  const reach = (values) => values.flatMap(({ least, most }) => [least, most]);
  const xScale = linearScale([...reach(points.map((each) => each.rmse)), data.rmse_constant_db], {
    count: width < 400 ? 5 : 8,
  });
  const guesses = guessesOf(data, figure);
  const yScale = linearScale([
    ...reach(points.map((each) => each.figure)),
    ...guesses.map((each) => each.figure.median),
  ]);
  const { svg, frame, x, y } = chartFrame(
    width,
    height,
    { label: "RMSE of the map on the test data, dB", scale: xScale },
    { scale: yScale },
    12,
  );
  drawConstant(svg, frame, x(data.rmse_constant_db));
  for (const each of guesses)
    drawGuess(svg, frame, y(each.figure.median), GUESSES[each.attack].label.toLowerCase());
  drawFrontier(
    svg,
    frame,
    frontier.map((each) => [x(each.rmse.median), y(each.left)]),
  );
  const placed = points.map((point) => ({
    ...point,
    x: x(point.rmse.median),
    y: y(point.figure.median),
    level: y(point.left),
    text: shortened(`${point.number} ${point.family}`, 28),
  }));
  for (const point of placed) {
    const { rmse, figure: own, colour } = point;
    const style = { stroke: colour };
    svg.append(
      makeSvg("line", {
        class: "range",
        x1: x(rmse.least),
        x2: x(rmse.most),
        y1: point.y,
        y2: point.y,
        style,
      }),
      makeSvg("line", {
        class: "range",
        x1: point.x,
        x2: point.x,
        y1: y(own.least),
        y2: y(own.most),
        style,
      }),
    );
  }
  const taken = [
    ...frontierBoxes(placed, frontier, frame),
    ...guesses.map((each) => guessBox(frame, y(each.figure.median), each)),
  ];
  const places = labelPlaces(placed, frame, taken);
  placed.forEach((point, index) => svg.append(labelledMark(point, places[index], figure)));
  return svg;
}

function drawConstant(svg, frame, x) {
  const isLeft = x > (frame.left + frame.right) / 2;
  svg.append(
    makeSvg("line", { class: "reference", x1: x, x2: x, y1: frame.top, y2: frame.bottom }),
    makeSvg(
      "text",
      {
        class: "note",
        x: x + (isLeft ? -5 : 5),
        y: frame.top + 10,
        "text-anchor": isLeft ? "end" : "start",
      },
      "constant",
    ),
  );
}

// Above it nothing is gained.
function drawGuess(svg, frame, y, label) {
  svg.append(
    makeSvg("line", { class: "reference", x1: frame.left, x2: frame.right, y1: y, y2: y }),
    makeSvg("text", { class: "note", x: frame.right - 4, y: y - 4, "text-anchor": "end" }, label),
  );
}

// Where its label is, on which no other may lie.
function guessBox(frame, y, { attack }) {
  const width = 6.5 * GUESSES[attack].label.length;
  return { left: frame.right - width, right: frame.right, top: y - 16, bottom: y + 2 };
}

// A staircase: between two configurations nothing better is known than the more accurate one's privacy.
function drawFrontier(svg, frame, corners) {
  if (corners.length === 0) return;
  const [[firstX]] = corners;
  const [lastX, lastY] = corners.at(-1);
  const steps = corners.map(([x, y], index) => (index ? `H${x}V${y}` : `V${y}`)).join("");
  svg.append(
    makeSvg("path", {
      class: "frontier",
      d: `M${firstX} ${frame.bottom}${steps}M${lastX} ${lastY}H${frame.right}`,
    }),
  );
}

// Where its level parts run, so that no label lies on them.
function frontierBoxes(placed, frontier, frame) {
  const corners = frontier.map(({ number }) => placed.find((each) => each.number === number));
  return corners.map(({ x, level }, index) => ({
    left: x,
    right: corners[index + 1]?.x ?? frame.right,
    top: level - 2,
    bottom: level + 2,
  }));
}

function labelledMark(point, place, figure) {
  const { unit, digits } = FIGURES[figure];
  const facts = `${point.name}\n${spread(point.rmse, 2)} dB, ${spread(point.figure, digits)} ${unit} (${point.attack})`;
  return makeSvg(
    "g",
    {},
    makeSvg("title", {}, facts),
    mark(point, point.x, point.y),
    makeSvg(
      "text",
      { class: "name", x: place.x, y: place.y, "text-anchor": place.anchor },
      point.text,
    ),
  );
}
