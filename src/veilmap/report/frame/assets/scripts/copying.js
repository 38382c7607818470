// Buttons that copy a command or settings.

function connectCopying() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const source = byId(button.dataset.copy);
      const words = (await copied(source)) ? "Copied" : "Selected";
      button.textContent = words;
      say(words === "Copied" ? "Copied" : "Selected; copy it with the keyboard");
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
  }
}

// A browser may keep its clipboard from a file; then the text is selected, ready to be copied by hand.
async function copied(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(source);
    return false;
  }
}
