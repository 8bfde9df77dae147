// A path drawn as a picture: boxes for concepts and memories, arrows that carry the relations.

import { short, svg } from "../dom.js";

const HEIGHT = 28;
const ROW = 62;
const PADDING = 10;
const GAP = 34;
const LONGEST = 34;

let canvas;
function width(text, font) {
  canvas ??= document.createElement("canvas").getContext("2d");
  canvas.font = font;
  return Math.ceil(canvas.measureText(text).width);
}

// Boxes with the arrow before each: a path is "node, relation, node, …", and a relation may be missing.
function pieces(path, own) {
  const boxes = [];
  let relation = "";
  for (const step of path) {
    if (step.kind === "relation" || step.kind === "neighbour") {
      relation = step.text ?? "";
      continue;
    }
    const text = step.kind === "memory" && (step.id ?? step.text) === own ? "this memory" : short(step.text ?? "(hidden)", LONGEST);
    const back = relation.startsWith("← ");
    const label = short(back ? relation.slice(2) : relation, LONGEST);
    boxes.push({
      text,
      label,
      back,
      kind: boxes.length ? step.kind : "seed",
      whole: step.text ?? "",
      width: width(text, "12.5px system-ui, sans-serif") + 2 * PADDING,
      arrow: boxes.length ? Math.max(GAP, width(label, "11.5px system-ui, sans-serif") + 18) : 0,
    });
    relation = "";
  }
  return boxes;
}

// From left to right, and on the next row where it does not fit.
function placed(boxes, room) {
  let x = 0;
  let row = 0;
  for (const box of boxes) {
    const needed = box.arrow + box.width;
    box.wrapped = x > 0 && x + needed > room;
    if (box.wrapped) {
      row += 1;
      x = 0;
    }
    box.from = x;
    box.x = x + box.arrow;
    box.y = row * ROW + 20;
    x = box.x + box.width;
  }
  return (row + 1) * ROW;
}

function arrow(box) {
  const middle = box.y + HEIGHT / 2;
  const [left, right] = [box.from + 2, box.x - 2];
  const head = box.back
    ? `M${left} ${middle} l7 -4 v8 z`
    : `M${right} ${middle} l-7 -4 v8 z`;
  return [
    svg("line", { x1: left, y1: middle, x2: right, y2: middle }),
    svg("path", { class: "head", d: head }),
    svg("text", { class: "relation", x: (left + right) / 2, y: middle - 8, "text-anchor": "middle" }, box.label),
  ];
}

export const inWords = (path) => path.map((step) => step.text ?? "(hidden)").join(" → ");

// `own` is the memory that the path leads to.
export function pathPicture(path, own) {
  const picture = svg("svg", { class: "path-picture", role: "img", "aria-label": `Path: ${inWords(path)}` });
  const draw = () => {
    const room = Math.max(220, picture.clientWidth || 480);
    const boxes = pieces(path, own);
    const height = placed(boxes, room);
    picture.setAttribute("height", height);
    picture.replaceChildren(
      ...boxes.flatMap((box) => [
        ...(box.arrow ? arrow(box) : []),
        svg(
          "g",
          { class: box.kind },
          svg("title", {}, box.whole),
          svg("rect", { x: box.x, y: box.y, width: box.width, height: HEIGHT, rx: box.kind === "memory" ? 4 : 14 }),
          svg("text", { x: box.x + PADDING, y: box.y + 18 }, box.text),
        ),
      ]),
    );
  };
  let last = 0;
  new ResizeObserver(() => {
    if (picture.clientWidth !== last) {
      last = picture.clientWidth;
      draw();
    }
  }).observe(picture);
  return picture;
}
