// What the reader looks at right now. Parts of the page listen; nothing else is shared.

class Selection {
  #listeners = [];

  constructor(values) {
    Object.assign(this, values);
  }

  set(changes) {
    const before = { ...this };
    Object.assign(this, changes);
    const changed = Object.keys(changes).filter((name) => before[name] !== this[name]);
    if (changed.length) for (const listener of this.#listeners) listener(this, new Set(changed));
  }

  // The listener is called at once, then after each change with the names of what changed.
  listen(listener) {
    this.#listeners.push(listener);
    listener(this, new Set(Object.keys(this)));
  }
}

// First shown: what is in use today, under the attack that comes nearest to the home.
function firstSelection(data) {
  const asItIs = Math.max(
    data.configurations.findIndex((each) => each.is_baseline),
    0,
  );
  const strongest = data.configurations[asItIs]?.strongest ?? {};
  const best = strongest.home_error_m ?? strongest.nearest_m ?? strongest.emd_paper;
  return new Selection({
    configuration: data.configurations[asItIs]?.name,
    attack: best && data.attacks.includes(best.attack) ? best.attack : data.attacks[0],
    target: data.targets[0],
    round: null, // all of them
  });
}

function connectSelects(data, selection) {
  const lists = {
    configuration: data.configurations.map((each) => each.name),
    attack: data.attacks,
    target: data.targets,
  };
  for (const [what, names] of Object.entries(lists)) {
    const select = byId(what);
    fillSelect(select, names, names.indexOf(selection[what]));
    select.addEventListener("change", () => selection.set({ [what]: names[select.value] }));
  }
  byId("target-choice").hidden = data.targets.length < 2;
}

function ofSelection(rows, selection) {
  return rows.filter(
    (row) =>
      row.configuration === selection.configuration &&
      row.attack === selection.attack &&
      row.target === selection.target,
  );
}

// A few figures of what is selected, above the map.
function showFacts(data, selection) {
  const own = ofSelection(data.rows, selection);
  const names = {
    rmse_db: ["RMSE of the map", "dB", 2],
    skill_by_place: ["its skill by place", "", 2],
  };
  for (const [name, { label, unit, digits }] of Object.entries(FIGURES))
    names[name] = [label, unit, digits];
  const facts = Object.entries(names).map(([name, [label, unit, digits]]) => {
    const figure = spreadOverRuns(own, name);
    const text = figure ? `${spread(figure, digits)} ${unit}` : NONE;
    const guesses = guessFacts(data, selection, name, digits);
    return make("div", {}, make("dt", {}, label), make("dd", {}, text), ...guesses);
  });
  byId("facts").replaceChildren(...facts);
}

// What the guesses that see no message have of a figure of the attack.
function guessFacts(data, selection, name, digits) {
  if (!(name in FIGURES)) return [];
  return Object.entries(GUESSES).flatMap(([attack, { label }]) => {
    const figure = spreadOverRuns(ofSelection(data.guesses, { ...selection, attack }), name);
    const text = `${label.toLowerCase()} ${written(figure?.median, digits)}`;
    return figure ? [make("dd", { class: "beside" }, text)] : [];
  });
}
