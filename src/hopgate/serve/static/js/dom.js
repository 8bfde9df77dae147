// Elements from values. Text is always a text node: nothing that a memory says is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, to] of Object.entries(value)) element.style.setProperty(key, to);
    else if (name === "value") element.value = value;
    else if (name === "checked") element.checked = Boolean(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);

export const svg = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

export const put = (place, ...children) => {
  place.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return place;
};

let numbers = 0;
export const newId = (word) => `${word}-${++numbers}`;

// A labelled control.
export function field(label, control, hint) {
  control.id ||= newId("field");
  const described = hint ? h("small", { id: `${control.id}-hint`, class: "muted" }, hint) : null;
  if (described) control.setAttribute("aria-describedby", described.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, described);
}

// A part that scrolls by itself, which the keyboard can reach.
export const scrolling = (label, ...children) => h("div", { class: "scroll tall", role: "region", "aria-label": label, tabindex: "0" }, ...children);

// What a screen reader is told.
export function announce(text) {
  const place = document.getElementById("announce");
  if (place) place.textContent = text;
}

// A colour of the style sheet, as the theme in force resolves it.
export function colour(name) {
  const probe = h("span", { hidden: true, style: { color: `var(--${name})` } });
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

export const day = (text) => (text ? String(text).slice(0, 10) : "");

export const interval = (from, to) => (from || to ? `${day(from) || "…"} to ${day(to) || "…"}` : "at all times");

export const short = (text, length = 60) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
