// Labels of nodes and edges: beside them where there is room, off each other, and never cut by the picture's end.

// For each picture what stands in it already: boxes of nodes and labels.
const taken = new WeakMap();

// A new picture has room everywhere but where its nodes are, which is asked with the first label: then it is known.
export const clearLabels = (picture, nodes) => taken.set(picture, nodes);

function boxes(picture) {
  const found = taken.get(picture) ?? [];
  if (Array.isArray(found)) return found;
  taken.set(picture, found().map(({ x, y, size }) => ({ x: x - size, y, width: 2 * size, height: 2 * size })));
  return taken.get(picture);
}

const apart = (one, two) =>
  one.x >= two.x + two.width || two.x >= one.x + one.width || Math.abs(one.y - two.y) >= (one.height + two.height) / 2;

const inside = (context, { x, y, width, height }) => {
  const scale = context.getTransform().a || 1;
  return x >= 2 && x + width <= context.canvas.width / scale - 2 && y >= height / 2 && y + height / 2 <= context.canvas.height / scale;
};

// The first of some places that is in the picture and free; a label that has none is left out.
function freePlace(context, places) {
  const others = boxes(context.canvas.parentElement);
  const place = places.find((one) => inside(context, one) && others.every((two) => apart(one, two)));
  if (place) others.push(place);
  return place;
}

// Where the label of a node may go: right, left, above and below of it.
function around(data, width, height) {
  const [right, left] = [data.x + data.size + 4, data.x - data.size - 4 - width];
  const [up, down] = [data.y - data.size - height / 2 - 1, data.y + data.size + height / 2 + 1];
  const middle = data.x - width / 2;
  return [[right, data.y], [left, data.y], [middle, down], [middle, up], [right, up], [right, down], [left, up], [left, down]].map(([x, y]) => ({ x, y, width, height }));
}

// On a seam of the ground's colour, so that edges behind it do not cross it out.
function written(context, text, { x, y }, size, ground, colour) {
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = ground;
  context.strokeText(text, x, y + size / 3);
  context.fillStyle = colour;
  context.fillText(text, x, y + size / 3);
}

export function nodeLabel(context, data, settings, theme) {
  if (!data.label) return;
  const size = settings.labelSize;
  context.font = `${size}px ${settings.labelFont}`;
  const place = freePlace(context, around(data, context.measureText(data.label).width, size + 3));
  if (place) written(context, data.label, place, size, theme.ground, theme.text);
}

// Level, in the middle of its edge, and not at all where the edge is shorter than its word.
export function edgeLabel(context, edge, from, to, settings, theme) {
  if (!edge.label) return;
  const size = settings.edgeLabelSize;
  context.font = `${size}px ${settings.edgeLabelFont}`;
  const width = context.measureText(edge.label).width;
  if (Math.hypot(to.x - from.x, to.y - from.y) < width + from.size + to.size) return;
  const place = freePlace(context, [0.5, 0.35, 0.65].map((share) => ({ x: from.x + share * (to.x - from.x) - width / 2, y: from.y + share * (to.y - from.y), width, height: size + 2 })));
  if (place) written(context, edge.label, place, size, theme.ground, theme.muted);
}

// The label of a node under the pointer, or selected, over everything, on a ground of the theme's own.
export function hoverLabel(context, data, settings, theme) {
  context.font = `600 ${settings.labelSize}px ${settings.labelFont}`;
  context.beginPath();
  context.arc(data.x, data.y, data.size + 3, 0, Math.PI * 2);
  context.strokeStyle = theme.accent;
  context.lineWidth = 2;
  context.stroke();
  context.fillStyle = data.color;
  context.beginPath();
  context.arc(data.x, data.y, data.size, 0, Math.PI * 2);
  context.fill();
  if (!data.label) return;
  const width = context.measureText(data.label).width;
  const places = around(data, width, settings.labelSize + 3);
  const { x, y } = places.find((place) => inside(context, place)) ?? places[0];
  context.fillStyle = theme.ground;
  context.fillRect(x - 4, y - settings.labelSize / 2 - 5, width + 8, settings.labelSize + 10);
  context.fillStyle = theme.text;
  context.fillText(data.label, x, y + settings.labelSize / 3);
}
