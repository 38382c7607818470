// The table of all configurations.

function configurationTable(data) {
  const names = data.configurations.map((each) => each.name);
  const best = (figure, digits) => [
    (row) => row.strongest[figure]?.median ?? null,
    (row) => (row.strongest[figure] ? spread(row.strongest[figure], digits) : NONE),
  ];
  const columns = [
    column("Configuration", (row) => row.name, nameWithTags, false),
    column(
      "#",
      (row) => names.indexOf(row.name) + 1,
      (row) => String(names.indexOf(row.name) + 1),
    ),
    column(
      "RMSE, dB",
      (row) => row.rmse.median,
      (row) => spread(row.rmse, 2),
    ),
    column(
      "Loss, dB",
      (row) => row.rmseLossDb,
      (row) => signed(row.rmseLossDb),
    ),
    column(
      "Points used",
      (row) => row.pointsShare,
      (row) => percent(row.pointsShare),
    ),
    column("Home error, m", ...best("home_error_m", 0)),
    column(
      "Its attack",
      (row) => row.strongest.home_error_m?.attack ?? null,
      (row) => row.strongest.home_error_m?.attack ?? NONE,
      false,
    ),
    column("Nearest point, m", ...best("nearest_m", 0)),
    column("EMD, √m", ...best("emd_paper", 1)),
    column("Distance, m", ...best("distance_m", 0)),
    column(
      "Recall, 50 m",
      (row) => row.strongest.recall_50m?.median ?? null,
      (row) => percent(row.strongest.recall_50m?.median),
    ),
    column(
      "Frontier",
      (row) => Number(!row.isOnFrontier),
      (row) => frontierText(row, names),
      false,
    ),
  ];
  return sortableTable(
    "All configurations under the attack that does best by each figure",
    columns,
    data.configurations,
    (row) => (row.isRecommended ? "is-recommended" : null),
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
