// Pictures are small beside their words, and as wide as the page when clicked.

function connectEnlarging() {
  for (const button of document.querySelectorAll(".picture"))
    button.addEventListener("click", () => {
      const isLarge = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!isLarge));
      button.scrollIntoView({ block: "nearest" });
    });
}
