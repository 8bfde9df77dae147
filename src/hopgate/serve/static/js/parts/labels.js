// Labels of nodes: beside them where there is room, off each other, and never cut by the picture's end.

const taken = new WeakMap();

// A new picture has room everywhere.
export const clearLabels = (canvas) => taken.set(canvas, []);

// Where a text goes: to the right of its node, to the left, or a line above or below, at the first place that is free, and
// nowhere where none is; and the text, shortened where no side has room for all of it.
function fitted(context, data, text, height) {
  const room = context.canvas.width / (context.getTransform().a || 1);
  const [right, left] = [room - (data.x + data.size + 9), data.x - data.size - 9];
  const most = Math.max(right, left) - 4;
  let shown = text;
  while (shown.length > 4 && context.measureText(shown).width > most) shown = `${shown.slice(0, -2).trimEnd()}…`;
  const width = context.measureText(shown).width;
  const sides = [[right, data.x + data.size + 5], [left, data.x - data.size - 5 - width]].filter(([space]) => space >= width).map(([, x]) => x);
  const places = [0, -height, height].flatMap((down) => sides.map((x) => ({ x, y: data.y + down, width, height })));
  const others = taken.get(context.canvas) ?? [];
  const free = (one) => !others.some((two) => one.x < two.x + two.width && two.x < one.x + one.width && Math.abs(one.y - two.y) < height);
  const place = places.find(free);
  if (place) others.push(place);
  return place && { shown, ...place };
}

// On a seam of the ground's colour, so that edges behind it do not cross it out.
export function nodeLabel(context, data, settings, theme) {
  if (!data.label) return;
  context.font = `${settings.labelSize}px ${settings.labelFont}`;
  const place = fitted(context, data, data.label, settings.labelSize + 3);
  if (!place) return;
  const { shown, x, y } = place;
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = theme.ground;
  context.strokeText(shown, x, y + settings.labelSize / 3);
  context.fillStyle = theme.text;
  context.fillText(shown, x, y + settings.labelSize / 3);
}

// The label of a node under the pointer, or selected, on a ground of the theme's own.
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
  clearLabels(context.canvas);
  const place = fitted(context, data, data.label, settings.labelSize + 3);
  if (!place) return;
  const { shown, width, x, y } = place;
  context.fillStyle = theme.ground;
  context.fillRect(x - 4, y - settings.labelSize / 2 - 5, width + 8, settings.labelSize + 10);
  context.fillStyle = theme.text;
  context.fillText(shown, x, y + settings.labelSize / 3);
}
