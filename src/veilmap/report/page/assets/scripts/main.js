// Everything is put together here.

function main() {
  const packed = JSON.parse(byId("payload").textContent);
  const data = {
    ...packed,
    rows: rowsOf(packed.rows),
    guesses: rowsOf(packed.guesses),
    history: rowsOf(packed.history),
    ground: decodeGround(packed.ground),
  };
  data.rounds =
    data.ground?.rounds ??
    [...new Set(data.history.map((row) => row.round))].sort((one, other) => one - other);
  nameHomeError(data.rows);
  const selection = firstSelection(data);
  connectSelects(data, selection);
  selection.listen((_, changed) => {
    if (["configuration", "attack", "target"].some((name) => changed.has(name)))
      showFacts(data, selection);
  });
  if (data.ground) {
    connectMap(data, selection);
    connectRoundControl(data.ground, selection);
  }
  connectPeople(data);
  connectRoundCharts(data, selection);
  connectTradeoff(data);
  byId("guesses").textContent = guessWords(data);
  byId("configurations").append(configurationTable(data));
  connectCosts(data);
  connectDownloads({ rows: packed.rows, history: packed.history });
  lazyTable(byId("all-rows"), "All rows", packed.rows, data.rows);
  lazyTable(byId("all-history"), "History", packed.history, data.history);
  connectTheme();
  connectCopying();
}

main();
