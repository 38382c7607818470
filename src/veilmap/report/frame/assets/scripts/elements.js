// Elements of the page. Text only ever becomes a text node, never markup: names of users, cells and
// files come from the data.

const SVG = "http://www.w3.org/2000/svg";

function byId(id) {
  return document.getElementById(id);
}

// Attributes: `class` and the like as they are; `on` holds listeners, `style` properties by name.
function make(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

function makeSvg(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

function dress(element, { on = {}, style = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value);
  }
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener);
  // Property by property: a style attribute is what the page's own policy forbids.
  for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function fillSelect(select, names, chosen = 0) {
  select.replaceChildren(
    ...names.map((name, index) =>
      make("option", { value: index, selected: index === chosen }, name),
    ),
  );
}

// Draws at once and again whenever the element gets another width.
function whenWidthChanges(element, draw) {
  let width = null;
  new ResizeObserver(() => {
    if (element.clientWidth === width || element.clientWidth === 0) return;
    width = element.clientWidth;
    draw();
  }).observe(element);
}

function say(text) {
  byId("said").textContent = text;
}
