// What the steps of the defences cost a phone, as bars.

const COSTS = [
  { field: "milliseconds", title: "Time of a round, ms" },
  { field: "peak_mb", title: "Memory at the peak, MB" },
  { field: "learning_seconds", title: "Learning in the whole run, s" },
];
const BAR = { height: 16, line: 42 };

function connectCosts(data) {
  const rows = data.configurations.flatMap(({ name, costs }, index) =>
    costs.map((cost) => ({ ...cost, configuration: name, number: index + 1 })),
  );
  byId("cost").hidden = rows.length === 0;
  document.querySelector('nav a[href="#cost"]').parentElement.hidden = rows.length === 0;
  if (rows.length === 0) return;
  // Few defences learn.
  for (const kind of COSTS.filter(({ field }) => rows.some((row) => row[field] > 0))) {
    const chart = new ChartFigure();
    byId("cost-charts").append(chart.element);
    chart.show(costContent(data, kind, rows));
  }
}

function costContent(data, { field, title }, rows) {
  return {
    title,
    description: rows
      .map((row) => `${row.configuration}, ${row.step}: ${short(row[field])}`)
      .join("; "),
    draw: (width) => drawBars(width, data, field, rows),
    columns: [
      column(
        "Configuration",
        (row) => row.configuration,
        (row) => row.configuration,
        false,
      ),
      column(
        "Step",
        (row) => row.step,
        (row) => row.step,
        false,
      ),
      column(
        title,
        (row) => row[field],
        (row) => short(row[field]),
      ),
      column("Spent", (row) => spentText(row), spentText, false),
    ],
    rows,
  };
}

function spentText({ spent }) {
  return (
    Object.entries(spent)
      .map(([name, value]) => `${name} ${short(value)}`)
      .join(", ") || NONE
  );
}

function drawBars(width, data, field, rows) {
  const most = Math.max(...rows.map((row) => row[field] ?? 0)) || 1;
  const svg = blankSvg(width, rows.length * BAR.line + 6);
  const styles = configurationStyles(
    data,
    rows.map((row) => row.configuration),
  );
  const widest = width - 64;
  rows.forEach((row, index) => {
    const top = index * BAR.line;
    const value = row[field] ?? 0;
    const wide = Math.max((value / most) * widest, value > 0 ? 2 : 0);
    svg.append(
      makeSvg(
        "text",
        { class: "name", x: 0, y: top + 14 },
        shortened(`${row.number} ${row.step}`, Math.floor(width / LETTER)),
        makeSvg("title", {}, `${row.configuration}: ${row.step}`),
      ),
      makeSvg("rect", {
        class: "bar",
        x: 0,
        y: top + 19,
        width: wide,
        height: BAR.height,
        rx: 2,
        style: { fill: styles[index].colour },
      }),
      makeSvg("text", { class: "tick", x: wide + 6, y: top + 32 }, short(row[field])),
    );
  });
  return svg;
}
