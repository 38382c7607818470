// From round to round: how well the update is explained, how far off the attack is, how strong the
// gradient is that it reads.

const ROUND_CHARTS = [
  {
    title: "Cosine of the update and what explains it",
    unit: "",
    lines: [{ field: "cosine", label: "cosine", kind: "achieved" }],
    scale: (values) => linearScale(values, { count: 6 }),
  },
  {
    title: "Distance from the round's centroid, m",
    unit: "m",
    lines: [{ field: "distance_m", label: "distance", kind: "achieved" }],
    scale: fittingScale,
  },
  {
    title: "Norm of the leaked gradient",
    unit: "",
    lines: [{ field: "norm", label: "norm", kind: "achieved" }],
    scale: fittingScale,
  },
  {
    // The theorem speaks of the points trained on, of which a defence may have left a few.
    title: "Error from the points trained on, m (first seed)",
    unit: "m",
    ofSeed: "first",
    lines: [
      { field: "distance_trained_m", label: "achieved", kind: "achieved" },
      { field: "predicted_error_m", label: "Theorem 1", kind: "predicted" },
      { field: "bound_m", label: "its bound", kind: "bound" },
    ],
    scale: fittingScale,
  },
];

function connectRoundCharts(data, selection) {
  const charts = ROUND_CHARTS.map((kind) => ({ kind, figure: new ChartFigure() }));
  byId("round-charts").append(...charts.map(({ figure }) => figure.element));
  selection.listen((_, changed) => {
    const isOnlyRound = changed.size === 1 && changed.has("round");
    const own = isOnlyRound ? [] : ofSelection(data.history, selection);
    for (const { kind, figure } of charts) {
      if (isOnlyRound) figure.redraw();
      else figure.show(roundContent(data, selection, kind, own));
    }
  });
}

function roundContent(data, selection, kind, history) {
  // What a theorem says is known for the first seed alone; like is held to like.
  const own = kind.ofSeed === "first" ? history.filter((row) => row.seed === data.seeds[0]) : history;
  const lines = kind.lines
    .map((line) => ({ ...line, points: overSeeds(own, line.field, data.rounds) }))
    .filter(({ points }) => points.length > 0);
  const colour = data.looks.attacks[selection.attack];
  const rows = data.rounds.map((round) => ({
    round,
    ...Object.fromEntries(
      lines.map(({ field, points }) => [field, points.find((each) => each.round === round)]),
    ),
  }));
  return {
    title: kind.title,
    description: roundWords(selection, kind, lines),
    draw: (width) => drawRounds(width, data, selection, kind, lines, colour),
    columns: [
      {
        title: "Round",
        value: (row) => row.round,
        text: (row) => String(row.round),
        isNumber: true,
      },
      ...lines.map(({ field, label }) => ({
        title: label,
        value: (row) => row[field]?.median ?? null,
        text: (row) => (row[field] ? short(row[field].median) : NONE),
        isNumber: true,
      })),
    ],
    rows,
  };
}

// By round: median, least and most over the seeds.
function overSeeds(history, field, rounds) {
  return rounds.flatMap((round) => {
    const values = history
      .filter((row) => row.round === round && typeof row[field] === "number")
      .map((row) => row[field]);
    if (values.length === 0) return [];
    return [{ round, median: medianOf(values), low: Math.min(...values), high: Math.max(...values) }];
  });
}

function roundWords({ configuration, attack, target }, { unit }, lines) {
  const words = lines.map(({ label, points }) => {
    const medians = points.map((each) => each.median);
    return `${label}: from ${short(Math.min(...medians))} to ${short(Math.max(...medians))} ${unit}`.trim();
  });
  return `${attack} on ${configuration}, target ${target}. ${words.join("; ") || "Not known"}.`;
}

function drawRounds(width, data, selection, kind, lines, colour) {
  const height = 230;
  const values = lines.flatMap(({ points }) =>
    points.flatMap(({ median, low, high }) => [median, low, high]),
  );
  if (values.length === 0) return emptyChart(width, height);
  const { svg, frame, x, y } = chartFrame(
    width,
    height,
    { label: "round", scale: roundScale(data.rounds, width) },
    { scale: kind.scale(values) },
    26,
  );
  if (selection.round !== null) {
    const now = x(selection.round);
    svg.append(
      makeSvg("line", { class: "now", x1: now, x2: now, y1: frame.top, y2: frame.bottom }),
    );
  }
  for (const line of [...lines].reverse()) drawLine(svg, line, data.rounds, x, y, colour);
  if (lines.length > 1) drawKey(svg, frame, lines, colour);
  return svg;
}

function drawLine(svg, { points, kind }, rounds, x, y, colour) {
  const byRound = new Map(points.map((each) => [each.round, each]));
  const style = kind === "achieved" ? { stroke: colour } : {};
  for (const { round, low, high } of points) {
    if (high > low && kind === "achieved")
      svg.append(
        makeSvg("line", {
          class: "seeds",
          x1: x(round),
          x2: x(round),
          y1: y(low),
          y2: y(high),
          style,
        }),
      );
  }
  const path = rounds.map((round) => [
    x(round),
    byRound.has(round) ? y(byRound.get(round).median) : NaN,
  ]);
  svg.append(makeSvg("path", { class: `line ${kind}`, d: linePath(path), style }));
  if (kind !== "achieved") return;
  for (const { round, median, low, high } of points) {
    const range = high > low ? `, ${short(low)} to ${short(high)} over the seeds` : "";
    svg.append(
      makeSvg(
        "circle",
        { class: "dot", cx: x(round), cy: y(median), r: 3.5, style: { fill: colour } },
        makeSvg("title", {}, `round ${round}: ${short(median)}${range}`),
      ),
    );
  }
}

// In a row above the lines.
function drawKey(svg, frame, lines, colour) {
  const y = frame.top - 14;
  let x = frame.left;
  for (const { label, kind } of lines) {
    const style = kind === "achieved" ? { stroke: colour } : {};
    svg.append(
      makeSvg("line", { class: `line ${kind}`, x1: x, x2: x + 20, y1: y, y2: y, style }),
      makeSvg("text", { class: "tick", x: x + 25, y: y + 4 }, label),
    );
    x += 25 + label.length * LETTER + 18;
  }
}

function emptyChart(width, height) {
  const svg = blankSvg(width, height);
  svg.append(
    makeSvg(
      "text",
      { class: "note", x: width / 2, y: height / 2, "text-anchor": "middle" },
      "not known",
    ),
  );
  return svg;
}
