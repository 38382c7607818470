// Which claims are shown: those with one of the chosen verdicts that have all the words. No verdict
// chosen means any.

function connectFilter() {
  const buttons = [...document.querySelectorAll("#filter [data-outcome]")];
  const words = byId("words");
  const entries = [...document.querySelectorAll(".entry")].map(entryOf);

  const update = () => {
    const chosen = new Set(buttons.filter(isPressed).map((button) => button.dataset.outcome));
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = entries.map((entry) => showEntry(entry, chosen, wanted));
    const isFiltered = chosen.size > 0 || wanted.length > 0;
    byId("shown").textContent = countOf(shown, entries, isFiltered);
    byId("everything").hidden = !isFiltered;
    byId("nothing").hidden = shown.some((entry) => entry.isShown);
  };
  for (const button of buttons)
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(!isPressed(button)));
      update();
    });
  words.addEventListener("input", update);
  byId("everything").addEventListener("click", () => {
    for (const button of buttons) button.setAttribute("aria-pressed", "false");
    words.value = "";
    update();
    words.focus();
  });
  byId("filter").hidden = false;
  update();
}

function entryOf(section) {
  return {
    section,
    text: section.querySelector("header").textContent.toLowerCase(),
    item: document.querySelector(`.contents [data-entry="${CSS.escape(section.id)}"]`),
    claims: [...section.querySelectorAll(".claims tbody tr")].map((row) => ({
      row,
      outcome: row.dataset.outcome,
      text: row.querySelector(".says").textContent.toLowerCase(),
    })),
  };
}

// An entry whose title has the words shows all its claims; one without claims has no verdict.
function showEntry({ section, text, item, claims }, chosen, wanted) {
  const matching = claims.filter(
    (claim) =>
      (chosen.size === 0 || chosen.has(claim.outcome)) &&
      wanted.every((word) => text.includes(word) || claim.text.includes(word)),
  );
  const isNamed = chosen.size === 0 && wanted.every((word) => text.includes(word));
  const isShown = matching.length > 0 || isNamed;
  for (const claim of claims) setOut(claim.row, !matching.includes(claim));
  setOut(section, !isShown);
  setOut(item, !isShown);
  return { isShown, claims: matching.length };
}

// Paper has everything: what is out is so on the screen alone.
function setOut(element, isOut) {
  element.classList.toggle("out", isOut);
}

function countOf(shown, entries, isFiltered) {
  const claims = shown.reduce((sum, entry) => sum + entry.claims, 0);
  const all = entries.reduce((sum, entry) => sum + entry.claims.length, 0);
  return isFiltered ? `${claims} of ${all} claims` : `All ${all} claims`;
}

function isPressed(button) {
  return button.getAttribute("aria-pressed") === "true";
}
