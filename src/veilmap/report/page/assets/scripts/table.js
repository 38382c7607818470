// Tables that sort by any column.

const MOST_LINES = 2000; // more would hold the browser up; the downloads have all

// value: row => number | string | null, by which it sorts; text: row => what is shown.
function column(title, value, text, isNumber = true) {
  return { title, value, text, isNumber };
}

function sortableTable(caption, columns, rows, rowClass = () => null) {
  const body = make("tbody");
  const heads = columns.map((column, index) => headOf(column, () => sort(index)));
  let order = null;

  function sort(index) {
    order = { index, direction: order?.index === index ? -order.direction : 1 };
    const { value } = columns[index];
    show([...rows].sort((one, other) => compare(value(one), value(other), order.direction)));
    heads.forEach((head, place) => {
      if (place === index)
        head.setAttribute("aria-sort", order.direction > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
  }

  function show(sorted) {
    body.replaceChildren(
      ...sorted.slice(0, MOST_LINES).map((row) => lineOf(columns, row, rowClass)),
    );
  }

  show(rows);
  const table = make(
    "table",
    {},
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...heads)),
    body,
  );
  const box = make(
    "div",
    { class: "table-box", tabindex: "0", role: "region", "aria-label": caption },
    table,
  );
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
