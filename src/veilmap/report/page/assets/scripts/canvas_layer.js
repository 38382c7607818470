// A layer of the map that is one canvas, as large as the view and redrawn when that moves.

class CanvasLayer {
  #map;
  #paint;
  #canvas = make("canvas", { "aria-hidden": "true" });
  #context = this.#canvas.getContext("2d");
  #isDue = false;

  // `paint(context, view)` draws in pixels of the view.
  constructor(map, name, zIndex, paint) {
    this.#map = map;
    this.#paint = paint;
    const pane = map.createPane(name);
    pane.style.zIndex = zIndex;
    pane.style.pointerEvents = "none";
    pane.append(this.#canvas);
    map.on("move resize", () => this.redraw());
  }

  get isShown() {
    return !this.#canvas.hidden;
  }

  set isShown(isShown) {
    this.#canvas.hidden = !isShown;
    this.redraw();
  }

  // However many reasons there are to draw, it is done once in a frame.
  redraw() {
    if (this.#isDue || !this.isShown) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.draw();
    });
  }

  // At once.
  draw() {
    const { x: width, y: height } = this.#map.getSize();
    if (width === 0 || height === 0) return; // not on the screen
    const ratio = window.devicePixelRatio || 1;
    const canvas = this.#canvas;
    // This also wipes it. A printer that is sent the strokes one by one takes clearRect for white paint.
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    L.DomUtil.setPosition(canvas, this.#map.containerPointToLayerPoint([0, 0]));
    this.#context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#paint(this.#context, viewOf(this.#map, width, height));
  }
}

// A point of the world at zoom 0 is at (x * scale - left, y * scale - top) of the view.
function viewOf(map, width, height) {
  const corner = map.getPixelBounds().min;
  return { width, height, scale: 2 ** map.getZoom(), left: corner.x, top: corner.y };
}

function metresPerPixel(map) {
  const { x, y } = map.getSize();
  const middle = y / 2;
  return (
    map.distance(map.containerPointToLatLng([0, middle]), map.containerPointToLatLng([x, middle])) /
    x
  );
}
