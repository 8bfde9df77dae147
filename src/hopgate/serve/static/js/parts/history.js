// A concept's history drawn on a line of time: a bar for each edge, dashed where it is believed no more.

import { day, h, interval, short, svg } from "../dom.js";
import { colours } from "./palette.js";

const ROW = 30;
const TOP = 26;

export function historyPicture(concept, edges, now) {
  const times = edges.flatMap((edge) => [edge.valid_from, edge.valid_to]).filter(Boolean).map(Date.parse);
  if (!times.length) return h("p", { class: "empty" }, "None of its edges has a date.");
  const [first, last] = [Math.min(...times), Math.max(...times, Date.now())];
  const of = colours([...new Set(edges.map((edge) => edge.relation))]);
  const picture = svg("svg", { class: "history", role: "img", "aria-label": `${concept}: ${edges.length} edges from ${day(new Date(first).toISOString())} to ${day(new Date(last).toISOString())}; the table below holds the same` });
  const draw = () => {
    const width = Math.max(300, picture.clientWidth || 600);
    const at = (time) => 4 + ((time - first) / Math.max(1, last - first)) * (width - 8);
    picture.setAttribute("height", TOP + edges.length * ROW + 8);
    const marks = [0, 0.25, 0.5, 0.75, 1].map((share) => first + share * (last - first));
    picture.replaceChildren(
      ...marks.flatMap((time, number) => [
        svg("line", { class: "axis", x1: at(time), x2: at(time), y1: TOP - 6, y2: TOP + edges.length * ROW }),
        svg("text", { class: "axis-text", x: at(time), y: 14, "text-anchor": number === 0 ? "start" : number === 4 ? "end" : "middle" }, new Date(time).toISOString().slice(0, width > 480 ? 10 : 7)),
      ]),
      ...edges.flatMap((edge, row) => {
        const from = edge.valid_from ? at(Date.parse(edge.valid_from)) : 0;
        const to = edge.valid_to ? at(Date.parse(edge.valid_to)) : width;
        const y = TOP + row * ROW;
        const other = edge.source === concept ? `${edge.relation} → ${edge.target}` : `${edge.source} — ${edge.relation} →`;
        const text = short(other, Math.floor(width / 7));
        return [
          svg("rect", { class: edge.retired_at ? "retired" : "known", x: from, y: y + 17, width: Math.max(5, to - from), height: 7, rx: 3, fill: of.get(edge.relation) },
            svg("title", {}, `${edge.source} — ${edge.relation} → ${edge.target}: ${interval(edge.valid_from, edge.valid_to)}`)),
          svg("text", { x: Math.max(2, Math.min(from, width - text.length * 6.6)), y: y + 13 }, text),
        ];
      }),
      ...(now ? [svg("line", { class: "now", x1: at(now), x2: at(now), y1: TOP - 6, y2: TOP + edges.length * ROW })] : []),
    );
  };
  new ResizeObserver(draw).observe(picture);
  return picture;
}
