// One hit: its place and how the graph moved it, its text, each leg's share, and the graph's path.

import { day, h } from "../dom.js";
import { pathPicture } from "./path.js";
import { shares } from "./shares.js";

// On the side without the graph, where a hit is with it; on the side with it, where it was.
function movement(rank, other, graph) {
  if (other === rank) return null;
  if (other === undefined) return h("span", { class: graph ? "tag new" : "tag" }, graph ? "only with the graph" : "not with the graph");
  return h("span", { class: "tag" }, graph ? `${other > rank ? "▲" : "▼"} from ${other}` : `${other} with the graph`);
}

const LONG = 420;

export function untitled({ title, content }) {
  const text = content ?? "";
  return title && text.startsWith(title) && text.length > title.length ? text.slice(title.length).trimStart() : text;
}

function words({ memory, passage: part }) {
  if (memory.is_sensitive && memory.content === null) return h("p", { class: "muted" }, "A sensitive memory: its text is not shown.");
  // A memory's content begins with its title, which stands above it already.
  const whole = untitled(memory);
  const passage = part?.text;
  const text = passage ?? whole;
  const body = h("p", { class: "text" }, text.length > LONG ? `${text.slice(0, LONG)}…` : text);
  if (whole.length <= text.length && text.length <= LONG) return body;
  return [body, h("details", { class: "small" }, h("summary", {}, passage ? "The whole memory" : "All of it"), h("p", { class: "text" }, whole))];
}

export function hitCard(hit, other, graph) {
  const { memory } = hit;
  return h(
    "article",
    { class: "card hit", "data-id": memory.id },
    h(
      "div",
      { class: "row apart" },
      h("div", { class: "row" }, h("span", { class: "rank" }, String(hit.rank)), h("code", {}, memory.id), movement(hit.rank, other, graph),
        memory.is_sensitive && h("span", { class: "tag warn" }, "sensitive")),
      h("span", { class: "small muted" }, [memory.scope, day(memory.created_at)].filter(Boolean).join(" · ")),
    ),
    memory.title && h("h3", {}, memory.title),
    words(hit),
    shares(hit.legs),
    hit.path.length > 0 && pathPicture(hit.path, memory.id),
    hit.as_of && h("p", { class: "small muted" }, hit.as_of),
  );
}
