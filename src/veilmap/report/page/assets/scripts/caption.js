// What the map shows, in words.

function captionOf(data, selection, { locations, truth }) {
  const { round } = selection;
  const outside = locations.filter((each) => !each.isInside).length;
  if (round === null) {
    // The map has the first seed; in some of its rounds the target may have sent nothing.
    const attacked = new Set(
      ofSelection(data.history, selection)
        .filter((row) => row.seed === data.seeds[0])
        .map((row) => row.round),
    ).size;
    const nowhere = attacked - new Set(locations.map((each) => each.round)).size;
    const left = `${written(outside)} of ${plural(attacked, "attacked round")} left the area`;
    const none = nowhere > 0 ? `; in ${written(nowhere)} nothing was found` : "";
    const real = `${plural(truth?.size ?? 0, "real point")} in ${plural(truth?.parts.size ?? 0, "round")}`;
    return `${real}. ${left}${none}. ${homeInWords(data, selection)}`;
  }
  const part = truth?.parts.get(round);
  const location = locations.find((each) => each.round === round);
  const own = ofSelection(data.history, selection).find(
    (row) => row.round === round && row.seed === data.seeds[0],
  );
  const far =
    typeof own?.distance_m === "number" ? `, ${written(own.distance_m)} m from their centroid` : "";
  const where = location
    ? `The attack's location is ${location.isInside ? "inside" : "outside"} the area${far}`
    : "The attack found nothing";
  return `${plural(part ? part.to - part.from : 0, "real point")} in this round. ${where}.`;
}

function homeInWords(data, selection) {
  const own = ofSelection(data.rows, selection).find((row) => row.seed === data.seeds[0]);
  const why = own?.no_home ? ` The cell's data name no home of this user: ${own.no_home}.` : "";
  if (typeof own?.home_error_m !== "number") return `The attack names no home.${why}`;
  const real = why ? "the heaviest place" : "the true one";
  return `The home that the attack names is ${written(own.home_error_m)} m from ${real}.${why}`;
}
