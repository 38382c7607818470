// The predicted signal as a picture below the points.
class SignalLayer {
  #map;
  #signal;
  #pictures = new Map();
  #overlay = null;
  #isShown = false;
  #configuration = null;

  constructor(map, signal) {
    this.#map = map;
    this.#signal = signal;
    map.createPane("signal").style.zIndex = 250;
  }

  get isShown() {
    return this.#isShown;
  }

  set isShown(isShown) {
    this.#isShown = isShown;
    this.#update();
  }

  get isKnown() {
    return Boolean(this.#packed());
  }

  show(configuration) {
    this.#configuration = configuration;
    this.#update();
  }

  // A picture moves with the map by itself.
  redraw() {}

  draw() {}

  #packed() {
    return this.#signal?.maps.find((each) => each.configuration === this.#configuration);
  }

  #update() {
    this.#overlay?.remove();
    const packed = this.#packed();
    if (!this.#isShown || !packed) return;
    if (!this.#pictures.has(packed)) this.#pictures.set(packed, signalPicture(packed));
    const [south, west, north, east] = packed.box;
    this.#overlay = L.imageOverlay(
      this.#pictures.get(packed),
      [
        [south, west],
        [north, east],
      ],
      {
        pane: "signal",
        className: "signal",
        alt: "",
      },
    ).addTo(this.#map);
  }
}

function signalPicture({ rows, columns, codes }) {
  const canvas = make("canvas", { width: columns, height: rows });
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  bytesOf(codes).forEach((code, index) => {
    if (code > 0) image.data.set([...viridis((code - 1) / 254), 255], 4 * index);
  });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}
