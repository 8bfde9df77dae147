// Labels of nodes: to the right of them, or to the left where the picture ends, and never cut.

// Where a text begins, and the text, shortened where neither side has room for all of it.
function fitted(context, data, text) {
  const ratio = context.getTransform().a || 1;
  const room = context.canvas.width / ratio;
  const [right, left] = [room - (data.x + data.size + 9), data.x - data.size - 9];
  const onTheLeft = context.measureText(text).width > right && left > right;
  const most = Math.max(right, left) - 4;
  let shown = text;
  while (shown.length > 4 && context.measureText(shown).width > most) shown = `${shown.slice(0, -2).trimEnd()}…`;
  const width = context.measureText(shown).width;
  return { shown, width, x: onTheLeft ? data.x - data.size - 5 - width : data.x + data.size + 5 };
}

// On a seam of the ground's colour, so that edges behind it do not cross it out.
export function nodeLabel(context, data, settings, theme) {
  if (!data.label) return;
  context.font = `${settings.labelSize}px ${settings.labelFont}`;
  const { shown, x } = fitted(context, data, data.label);
  const y = data.y + settings.labelSize / 3;
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = theme.ground;
  context.strokeText(shown, x, y);
  context.fillStyle = theme.text;
  context.fillText(shown, x, y);
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
  const { shown, width, x } = fitted(context, data, data.label);
  context.fillStyle = theme.ground;
  context.fillRect(x - 4, data.y - settings.labelSize / 2 - 5, width + 8, settings.labelSize + 10);
  context.fillStyle = theme.text;
  context.fillText(shown, x, data.y + settings.labelSize / 3);
}
