// Light and dark: as the system has it, until the reader says otherwise.

const DARK = matchMedia("(prefers-color-scheme: dark)");
const colourListeners = [];

function whenColoursChange(listener) {
  colourListeners.push(listener);
}

function connectTheme() {
  const button = byId("theme");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : DARK.matches);
  const update = () => {
    const other = isDark() ? "Light" : "Dark";
    button.textContent = other;
    button.setAttribute("aria-label", `Switch to ${other.toLowerCase()} colours`);
    for (const listener of colourListeners) listener();
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    update();
  });
  DARK.addEventListener("change", update);
  button.hidden = false;
  update();
}
