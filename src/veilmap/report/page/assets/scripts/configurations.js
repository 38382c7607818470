// The table of all configurations.

function configurationTable(data) {
  const names = data.configurations.map((each) => each.name);
  const best = (figure, digits) => [
    (row) => row.strongest[figure]?.figure.median ?? null,
    (row) => (row.strongest[figure] ? spread(row.strongest[figure].figure, digits) : NONE),
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
      (row) => row.rmse_db.median,
      (row) => spread(row.rmse_db, 2),
    ),
    column(
      "Loss, dB",
      (row) => row.rmse_loss_db,
      (row) => signed(row.rmse_loss_db),
    ),
    column(
      "Skill by place",
      (row) => row.skill_by_place,
      (row) => written(row.skill_by_place, 2),
    ),
    column(
      "Of central",
      (row) => row.share_of_central,
      (row) => percent(row.share_of_central),
    ),
    column(
      "Points used",
      (row) => row.points_share,
      (row) => percent(row.points_share),
    ),
    column(`${FIGURES.home_error_m.label}, m`, ...best("home_error_m", 0)),
    column(
      "Its attack",
      (row) => row.strongest.home_error_m?.attack ?? null,
      (row) => row.strongest.home_error_m?.attack ?? NONE,
      false,
    ),
    column(
      "In hindsight, m",
      (row) => row.strongest.home_error_m?.hindsight?.figure.median ?? null,
      (row) => hindsightText(row.strongest.home_error_m?.hindsight),
    ),
    column("Nearest point, m", ...best("nearest_m", 0)),
    column("EMD, √m", ...best("emd_paper", 1)),
    column("Distance, m", ...best("distance_m", 0)),
    column(
      "Recall, 50 m",
      (row) => row.strongest.recall_50m?.figure.median ?? null,
      (row) => percent(row.strongest.recall_50m?.figure.median),
    ),
    column(
      "Frontier",
      (row) => Number(!row.is_on_frontier),
      (row) => frontierText(row, names),
      false,
    ),
  ];
  return sortableTable(
    "All configurations under the attack that does best by each figure",
    columns,
    data.configurations,
    (row) => (row.is_recommended ? "is-recommended" : null),
  );
}

function hindsightText(best) {
  return best ? `${written(best.figure.median)} ${best.attack}` : NONE;
}

// The same for all configurations.
function guessWords(data) {
  const known = guessesOf(data, "home_error_m").map(
    ({ attack, figure }) => `${GUESSES[attack].label.toLowerCase()} ${spread(figure, 0)} m`,
  );
  return known.length ? `${FIGURES.home_error_m.label} without any message: ${known.join(", ")}.` : "";
}

function nameWithTags(row) {
  const cell = document.createDocumentFragment();
  cell.append(row.name);
  if (row.is_baseline) cell.append(" ", make("span", { class: "tag" }, "baseline"));
  if (row.is_recommended) cell.append(" ", make("span", { class: "tag good" }, "★ recommended"));
  return cell;
}

// The other by its number: names are long.
function frontierText(row, names) {
  if (row.is_on_frontier) return "on it";
  const number = names.indexOf(row.dominated_by) + 1;
  return number ? `beaten by ${number}` : NONE;
}

function signed(value) {
  return value > 0 ? `+${written(value, 2)}` : written(value, 2);
}
