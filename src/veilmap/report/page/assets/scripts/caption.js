// What the map shows, in words.

function captionOf(data, selection, { locations, truth }) {
  const { round } = selection;
  const outside = locations.filter((each) => !each.isInside).length;
  const nowhere = data.rounds.length - new Set(locations.map((each) => each.round)).size;
  if (round === null) {
    const left = `${written(outside)} of ${plural(data.rounds.length, "round")} left the area`;
    const none = nowhere ? `; in ${written(nowhere)} nothing was found` : "";
    return `${plural(truth?.size ?? 0, "real point")} in ${plural(data.rounds.length, "round")}. ${left}${none}.`;
  }
  const part = truth?.parts.get(round);
  const location = locations.find((each) => each.round === round);
  const own = ofSelection(data.history, selection).find((row) => row.round === round);
  const far =
    typeof own?.distance_m === "number" ? `, ${written(own.distance_m)} m from their centroid` : "";
  const where = location
    ? `The attack's location is ${location.isInside ? "inside" : "outside"} the area${far}`
    : "The attack found nothing";
  return `${plural(part ? part.to - part.from : 0, "real point")} in this round. ${where}.`;
}
