// What all charts share: a figure with its numbers as a table, a frame with axes, marks and lines.

const MARGIN = { left: 56, right: 14, bottom: 42 };

// A figure that is redrawn when its width or its content changes.
class ChartFigure {
  #content = null;
  #title = make("span");
  #drawing = make("div", { class: "drawing" });
  #numbers = make("details", { class: "numbers" });

  constructor() {
    this.element = make(
      "figure",
      { class: "chart" },
      make("figcaption", {}, this.#title),
      this.#drawing,
      this.#numbers,
    );
    whenWidthChanges(this.#drawing, () => this.redraw());
  }

  // Content: {title, description, draw: width => svg, columns, rows}.
  show(content) {
    this.#content = content;
    this.#title.textContent = content.title;
    this.#numbers.replaceChildren(
      make("summary", {}, "Numbers", make("span", { class: "hidden" }, ` of: ${content.title}`)),
      sortableTable(content.title, content.columns, content.rows),
    );
    this.redraw();
  }

  redraw() {
    const width = this.#drawing.clientWidth;
    if (!this.#content || width === 0) return;
    const svg = this.#content.draw(width);
    describe(svg, this.#content.title, this.#content.description);
    this.#drawing.replaceChildren(svg);
  }
}

function describe(svg, title, description) {
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${title}. ${description}`);
  svg.prepend(makeSvg("title", {}, title), makeSvg("desc", {}, description));
}

function blankSvg(width, height) {
  return makeSvg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "svg" });
}

// Axes and grid. Axes: {label, scale}; gives the drawing and the pixels of a value.
function chartFrame(width, height, xAxis, yAxis, top) {
  const svg = blankSvg(width, height);
  const frame = {
    left: MARGIN.left,
    right: width - MARGIN.right,
    top,
    bottom: height - MARGIN.bottom,
  };
  const x = (value) => frame.left + xAxis.scale.share(value) * (frame.right - frame.left);
  const y = (value) => frame.bottom - yAxis.scale.share(value) * (frame.bottom - frame.top);
  for (const { value, text } of yAxis.scale.ticks) {
    svg.append(
      makeSvg("line", {
        class: "grid",
        x1: frame.left,
        x2: frame.right,
        y1: y(value),
        y2: y(value),
      }),
      makeSvg(
        "text",
        { class: "tick", x: frame.left - 8, y: y(value) + 4, "text-anchor": "end" },
        text,
      ),
    );
  }
  for (const { value, text } of xAxis.scale.ticks) {
    svg.append(
      makeSvg("line", {
        class: "axis",
        x1: x(value),
        x2: x(value),
        y1: frame.bottom,
        y2: frame.bottom + 4,
      }),
      makeSvg(
        "text",
        { class: "tick", x: x(value), y: frame.bottom + 17, "text-anchor": "middle" },
        text,
      ),
    );
  }
  svg.append(
    makeSvg("line", {
      class: "axis",
      x1: frame.left,
      x2: frame.right,
      y1: frame.bottom,
      y2: frame.bottom,
    }),
    makeSvg(
      "text",
      { class: "label", x: (frame.left + frame.right) / 2, y: height - 6, "text-anchor": "middle" },
      xAxis.label,
    ),
  );
  return { svg, frame, x, y };
}

// A line through the points that are known; a gap where one is not.
function linePath(points) {
  let isPenDown = false;
  return points
    .map(([x, y]) => {
      if (!Number.isFinite(y)) {
        isPenDown = false;
        return "";
      }
      const step = `${isPenDown ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
      isPenDown = true;
      return step;
    })
    .join("");
}

// Shapes as well as colours, for the colour-blind; named as by matplotlib, which draws our
// other pictures.
const MARKS = {
  "*": regular(5, 9, 4),
  o: null, // a circle
  s: regular(4, 7.5, 7.5, Math.PI / 4),
  "^": regular(3, 8, 8),
  v: regular(3, 8, 8, Math.PI),
  "<": regular(3, 8, 8, -Math.PI / 2),
  ">": regular(3, 8, 8, Math.PI / 2),
  D: regular(4, 7.5, 7.5),
  d: "0,-8.5 5,0 0,8.5 -5,0",
  P: cross(0),
  X: cross(Math.PI / 4),
  p: regular(5, 7.5, 7.5),
  h: regular(6, 7.5, 7.5),
  H: regular(6, 7.5, 7.5, Math.PI / 6),
  8: regular(8, 7.5, 7.5, Math.PI / 8),
};

// The coloured part of marks that are neither full nor hollow.
const HALVES = {
  left: "inset(0 50% 0 0)",
  right: "inset(0 0 0 50%)",
  top: "inset(0 0 50% 0)",
  bottom: "inset(50% 0 0 0)",
};

function mark({ mark: name, colour, filling }, x, y) {
  if (filling === "full") return shape(name, x, y, "mark", { fill: colour });
  const outline = { fill: "var(--paper)", stroke: colour, "stroke-width": 2 };
  const hollow = shape(name, x, y, "mark", outline);
  if (filling === "none") return hollow;
  const half = { fill: colour, "clip-path": HALVES[filling] };
  return makeSvg("g", {}, hollow, shape(name, x, y, "half", half));
}

// What is drawn in a chart, and what it is called, for the legend.
function legendItem(drawn, name) {
  const svg = makeSvg("svg", {
    width: 22,
    height: 22,
    viewBox: "-11 -11 22 22",
    "aria-hidden": "true",
  });
  svg.append(drawn);
  return make("li", {}, svg, make("span", {}, name));
}

function shape(name, x, y, kind, style) {
  const points = MARKS[name];
  return points
    ? makeSvg("polygon", { class: kind, points, transform: `translate(${x} ${y})`, style })
    : makeSvg("circle", { class: kind, cx: x, cy: y, r: 6, style });
}

// A polygon of so many corners, or a star where the notches lie farther in.
function regular(corners, outer, inner, turn = 0) {
  const isStar = inner !== outer;
  const count = isStar ? 2 * corners : corners;
  return polygon(count, (index) => [
    (2 * Math.PI * index) / count + turn,
    isStar && index % 2 ? inner : outer,
  ]);
}

function cross(turn) {
  const arm = Math.atan(1 / 3);
  return polygon(12, (index) => {
    const quarter = (Math.floor(index / 3) * Math.PI) / 2;
    const part = index % 3;
    return [quarter + turn + [-arm, arm, Math.PI / 4][part], part === 2 ? 3.2 : 7.2];
  });
}

function polygon(count, corner) {
  return Array.from({ length: count }, (_, index) => {
    const [angle, radius] = corner(index);
    return `${(radius * Math.sin(angle)).toFixed(2)},${(-radius * Math.cos(angle)).toFixed(2)}`;
  }).join(" ");
}
