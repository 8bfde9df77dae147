// An edge as a line of text with its interval, and its evidence to open.

import { h, interval } from "../dom.js";
import { memoryItem } from "./detail.js";

export function edgeLine(edge, { known = false } = {}) {
  return h(
    "div",
    { class: "edge-line" },
    h("p", {}, h("strong", {}, edge.source), h("span", { class: "muted" }, ` — ${edge.relation} → `), h("strong", {}, edge.target)),
    h("p", { class: "small muted" }, `true ${interval(edge.valid_from, edge.valid_to)}`,
      known && ` · known ${interval(edge.recorded_at, edge.retired_at)}`),
    edge.evidence.length > 0 && h("details", { class: "small" }, h("summary", {}, `Evidence (${edge.evidence.length})`), edge.evidence.slice(0, 20).map(memoryItem)),
  );
}
