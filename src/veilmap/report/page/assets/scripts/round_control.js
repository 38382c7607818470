// The slider of rounds, with play and pause; its first place shows all of them.

const STEP_MS = 900;

function connectRoundControl({ rounds, starts }, selection) {
  const [slider, play, all, text] = ["round", "play", "all-rounds", "round-text"].map(byId);
  let timer = null;
  slider.max = rounds.length;

  function go(place) {
    selection.set({ round: place === 0 ? null : rounds[place - 1] });
  }

  function pause() {
    clearInterval(timer);
    timer = null;
    showPlaying();
  }

  function showPlaying() {
    play.textContent = timer ? "Pause" : "Play";
    play.setAttribute("aria-label", timer ? "Pause" : "Play the rounds");
    // A screen reader that spoke each step would never finish one.
    text.setAttribute("aria-live", timer ? "off" : "polite");
    byId("map-caption").setAttribute("aria-live", timer ? "off" : "polite");
  }

  slider.addEventListener("input", () => {
    pause();
    go(Number(slider.value));
  });
  all.addEventListener("click", () => {
    pause();
    go(0);
  });
  play.addEventListener("click", () => {
    if (timer) {
      pause();
      return;
    }
    const next = () => go((Number(slider.value) % rounds.length) + 1);
    timer = setInterval(next, STEP_MS);
    showPlaying();
    next();
  });
  selection.listen(() => {
    const place = rounds.indexOf(selection.round) + 1;
    slider.value = place;
    const start = starts[place - 1];
    const words =
      place === 0 ? "All rounds" : `Round ${rounds[place - 1]}${start ? `, from ${start}` : ""}`;
    text.textContent = words;
    slider.setAttribute("aria-valuetext", words);
    all.setAttribute("aria-pressed", String(place === 0));
  });
}
