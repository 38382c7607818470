// The home errors over people: which share of them is located to within a distance.

// Of more people single marks would cover the line.
const MOST_MARKED = 12;
// With few people many lines run at the same height; they are drawn side by side.
const ASIDE = 2;
const RADII = [50, 100, 200];
const QUANTILES = [
  ["worst_decile_m", "Best located 10 %, m"],
  ["lower_quartile_m", "25 %, m"],
  ["median_m", "50 %, m"],
  ["upper_quartile_m", "75 %, m"],
];

function connectPeople(data) {
  const isShown = data.people.length > 0 && data.people[0].people > 1;
  byId("people").hidden = !isShown;
  document.querySelector('nav a[href="#people"]').parentElement.hidden = !isShown;
  if (!isShown) return;
  const names = data.configurations.map((each) => each.name);
  const styles = configurationStyles(data, names);
  const attacked = data.people.filter((each) => !each.is_guess);
  const guesses = data.people.filter((each) => each.is_guess && each.configuration === names[0]);
  const lines = [...attacked, ...guesses].map((each) => {
    const number = names.indexOf(each.configuration) + 1;
    const name = each.is_guess ? GUESSES[each.attack].label.toLowerCase() : each.configuration;
    return { ...each, number, name, ...styles[number - 1] };
  });
  byId("people-legend").replaceChildren(
    ...lines.map((each) =>
      each.is_guess
        ? legendItem(guessSwatch(each), each.name)
        : legendItem(mark(each, 0, 0), `${each.number} ${each.name}`),
    ),
  );
  const chart = new ChartFigure();
  byId("people-chart").append(chart.element);
  chart.show(peopleContent(lines));
  chart.element.querySelector("details").open = true;
}

function peopleContent(lines) {
  const [{ people }] = lines;
  const words = lines.map(
    (each) => `${each.name}: ${percent(each.within_100m)} within 100 m, half ${halfWithin(each)}`,
  );
  return {
    title: `${FIGURES.home_error_m.label} over ${people} people, under the strongest attack`,
    description: `${words.join("; ")}.`,
    draw: (width) => drawPeople(width, lines),
    columns: [
      column(
        "Configuration",
        (row) => row.name,
        (row) => row.name,
        false,
      ),
      column(
        "Attack",
        (row) => row.attack,
        (row) => row.attack ?? NONE,
        false,
      ),
      ...QUANTILES.map(([field, title]) =>
        column(
          title,
          (row) => row[field],
          (row) => written(row[field]),
        ),
      ),
      ...RADII.map((radius) =>
        column(
          `Within ${radius} m`,
          (row) => row[`within_${radius}m`],
          (row) => percent(row[`within_${radius}m`]),
        ),
      ),
    ],
    rows: lines,
  };
}

function halfWithin({ median_m }) {
  return median_m === null ? "not located" : `within ${written(median_m)} m`;
}

function drawPeople(width, lines) {
  const height = Math.round(Math.min(Math.max(width * 0.5, 280), 420));
  // A logarithm has no 0; nearer than a metre nobody is located.
  const known = lines.flatMap((each) => each.errors_m.filter((error) => error !== null));
  if (known.length === 0) return emptyChart(width, height);
  const { svg, frame, x, y } = chartFrame(
    width,
    height,
    {
      label: `${FIGURES.home_error_m.label}, m: right is private`,
      scale: logScale(known.map(atLeastAMetre)),
    },
    { scale: shareScale() },
    14,
  );
  for (const radius of RADII) {
    if (x(radius) < frame.left || x(radius) > frame.right) continue;
    svg.append(
      makeSvg("line", {
        class: "grid",
        x1: x(radius),
        x2: x(radius),
        y1: frame.top,
        y2: frame.bottom,
      }),
    );
  }
  const isFew = lines[0].people <= MOST_MARKED;
  const [guesses, attacked] = [true, false].map((kind) =>
    lines.filter((each) => each.is_guess === kind),
  );
  for (const each of guesses) svg.append(guessLine(each, frame, x, y));
  attacked.forEach((each, index) => {
    const aside = isFew ? ASIDE * (index - (attacked.length - 1) / 2) : 0;
    svg.append(...personLine(each, frame, x, (share) => y(share) + (share && aside), isFew));
  });
  return svg;
}

function atLeastAMetre(error) {
  return Math.max(error, 1);
}

function shareScale() {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((value) => ({ value, text: percent(value) }));
  return { low: 0, high: 1, ticks, share: (value) => value };
}

// Up by one person at every error; to the edge where some are never located.
function staircase({ errors_m, people }, frame, x, y) {
  const errors = errors_m.filter((error) => error !== null).map(atLeastAMetre);
  if (errors.length === 0) return `M${frame.left} ${y(0)}H${frame.right}`;
  const steps = errors.map((error, index) => `H${x(error)}V${y((index + 1) / people)}`).join("");
  const rest = errors.length < people ? `H${frame.right}` : "";
  return `M${x(errors[0])} ${y(0)}${steps}${rest}`;
}

function guessLine(each, frame, x, y) {
  return makeSvg(
    "path",
    { class: guessKind(each), d: staircase(each, frame, x, y) },
    makeSvg("title", {}, peopleFacts(each)),
  );
}

function guessSwatch(each) {
  return makeSvg("line", { class: guessKind(each), x1: -11, x2: 11, y1: 0, y2: 0 });
}

function guessKind({ attack }) {
  return `line ${attack === "blind" ? "predicted" : "bound"}`;
}

function personLine(each, frame, x, y, isFew) {
  const line = makeSvg(
    "path",
    { class: "line", d: staircase(each, frame, x, y), style: { stroke: each.colour } },
    makeSvg("title", {}, peopleFacts(each)),
  );
  const marked = isFew
    ? each.errors_m.map((error, index) => [error, (index + 1) / each.people])
    : [[each.median_m, 0.5]];
  const marks = marked
    .filter(([error]) => error !== null)
    .map(([error, share]) => mark(each, x(atLeastAMetre(error)), y(share)));
  return [line, ...marks];
}

function peopleFacts(each) {
  const shares = RADII.map((radius) => `${percent(each[`within_${radius}m`])} within ${radius} m`);
  return `${each.name}\n${shares.join(", ")} (${each.attack ?? "no attack names a home"})`;
}
