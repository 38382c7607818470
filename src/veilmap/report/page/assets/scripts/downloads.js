// The rows and the history as files, made in the page itself.

const FORMATS = {
  csv: { type: "text/csv;charset=utf-8", write: asCsv },
  json: {
    type: "application/json",
    write: (table) => `${JSON.stringify(rowsOf(table), null, 1)}\n`,
  },
};

function connectDownloads(tables) {
  for (const button of document.querySelectorAll("[data-download]")) {
    const name = button.dataset.download;
    const [table, format] = name.split(".");
    button.addEventListener("click", () => {
      save(`veilmap-${name}`, FORMATS[format].write(tables[table]), FORMATS[format].type);
      say(`veilmap-${name} was saved`);
    });
  }
}

function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function asCsv({ columns, values }) {
  const lines = [columns, ...values].map((line) => line.map(csvCell).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = harmless(typeof value === "object" ? JSON.stringify(value) : String(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// A spreadsheet takes a text that begins like this for a formula and runs it.
function harmless(text) {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
