// Tables that sort by any column.

const MOST_LINES = 2000; // more would hold the browser up; the downloads have all

// Columns: {title, value: row => number | string | null, text: row => string, isNumber}.
function sortableTable(caption, columns, rows, rowClass = () => null) {
  const body = make("tbody");
  const heads = columns.map((column, index) => headOf(column, () => sort(index)));
  let order = null;

  function sort(index) {
    order = { index, direction: order?.index === index ? -order.direction : 1 };
    const { value } = columns[index];
    show([...rows].sort((one, other) => compare(value(one), value(other), order.direction)));
    heads.forEach((head, place) => {
      if (place === index) head.setAttribute("aria-sort", order.direction > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
  }

  function show(sorted) {
    body.replaceChildren(...sorted.slice(0, MOST_LINES).map((row) => lineOf(columns, row, rowClass)));
  }

  show(rows);
  const table = make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...heads)), body);
  const box = make("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": caption }, table);
  if (rows.length <= MOST_LINES) return box;
  const rest = `The first ${written(MOST_LINES)} of ${written(rows.length)} in this order; the downloads have all.`;
  return make("div", {}, box, make("p", { class: "caption" }, rest));
}

function headOf({ title, isNumber }, sort) {
  const arrow = make("span", { class: "arrow", "aria-hidden": "true" });
  const button = make("button", { type: "button", on: { click: sort } }, title, arrow);
  return make("th", { scope: "col", class: isNumber ? "number" : null }, button);
}

function lineOf(columns, row, rowClass) {
  const cells = columns.map((column, index) => {
    const attributes = { class: column.isNumber ? "number" : null };
    const text = column.text(row);
    return index === 0
      ? make("th", { ...attributes, scope: "row" }, text)
      : make("td", attributes, text);
  });
  return make("tr", { class: rowClass(row) }, ...cells);
}

// What is not known goes last in both directions.
function compare(one, other, direction) {
  const isMissing = (value) => value === null || value === undefined;
  if (isMissing(one) || isMissing(other)) return Number(isMissing(one)) - Number(isMissing(other));
  if (typeof one === "number" && typeof other === "number") return direction * (one - other);
  return direction * String(one).localeCompare(String(other), "en", { numeric: true });
}

// A column for each plain field; lists stay in the downloads.
function plainColumns({ columns, values }) {
  return columns
    .map((name, index) => ({ name, own: values.map((row) => row[index]) }))
    .filter(({ own }) => own.every((value) => value === null || typeof value !== "object"))
    .map(({ name, own }) => ({
      title: name,
      value: (row) => row[name],
      text: (row) => cellText(row[name]),
      isNumber: own.some((value) => typeof value === "number"),
    }));
}

function cellText(value) {
  if (value === null || value === undefined) return NONE;
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}

// Built when first opened: a history may have thousands of lines.
function lazyTable(details, caption, table, rows) {
  details.addEventListener(
    "toggle",
    () => details.append(sortableTable(caption, plainColumns(table), rows)),
    { once: true },
  );
}

function configurationTable(data) {
  const names = data.configurations.map((each) => each.name);
  const best = (figure, digits) => [
    (row) => row.strongest[figure]?.mean ?? null,
    (row) => (row.strongest[figure] ? spread(row.strongest[figure], digits) : NONE),
  ];
  const column = (title, value, text, isNumber = true) => ({ title, value, text, isNumber });
  const columns = [
    column("Configuration", (row) => row.name, nameWithTags, false),
    column("#", (row) => names.indexOf(row.name) + 1, (row) => String(names.indexOf(row.name) + 1)),
    column("RMSE, dB", (row) => row.rmse.mean, (row) => spread(row.rmse, 2)),
    column("Loss, dB", (row) => row.rmseLossDb, (row) => signed(row.rmseLossDb)),
    column("Points used", (row) => row.pointsShare, (row) => percent(row.pointsShare)),
    column("Home error, m", ...best("home_error_m", 0)),
    column("Its attack", (row) => row.strongest.home_error_m?.attack ?? null, (row) => row.strongest.home_error_m?.attack ?? NONE, false),
    column("Nearest point, m", ...best("nearest_m", 0)),
    column("EMD, √m", ...best("emd_paper", 1)),
    column("Distance, m", ...best("distance_m", 0)),
    column("Recall, 50 m", (row) => row.strongest.recall_50m?.mean ?? null, (row) => percent(row.strongest.recall_50m?.mean)),
    column("Frontier", (row) => Number(!row.isOnFrontier), (row) => frontierText(row, names), false),
  ];
  return sortableTable("All configurations under the attack that does best by each figure", columns, data.configurations, (row) =>
    row.isRecommended ? "is-recommended" : null,
  );
}

function nameWithTags(row) {
  const cell = document.createDocumentFragment();
  cell.append(row.name);
  if (row.isAsItIs) cell.append(" ", make("span", { class: "tag" }, "as it is"));
  if (row.isRecommended) cell.append(" ", make("span", { class: "tag good" }, "★ recommended"));
  return cell;
}

// The other by its number: names are long.
function frontierText(row, names) {
  if (row.isOnFrontier) return "on it";
  const number = names.indexOf(row.dominatedBy) + 1;
  return number ? `beaten by ${number}` : NONE;
}

function signed(value) {
  return value > 0 ? `+${written(value, 2)}` : written(value, 2);
}
