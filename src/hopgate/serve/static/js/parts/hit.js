// One hit: its place and how the graph moved it, its text, each leg's share, and the graph's path.

import { day, h } from "../dom.js";
import { pathPicture } from "./path.js";
import { shares } from "./shares.js";

function movement(rank, other) {
  if (other === undefined) return h("span", { class: "tag new" }, "only here");
  if (other === rank) return null;
  const up = other > rank;
  return h("span", { class: "tag" }, `${up ? "▲" : "▼"} ${Math.abs(other - rank)}`, h("span", { class: "hidden-text" }, up ? " places higher than beside" : " places lower than beside"));
}

const LONG = 420;

export function untitled({ title, content }) {
  const text = content ?? "";
  return title && text.startsWith(title) && text.length > title.length ? text.slice(title.length).trimStart() : text;
}

function words(hit) {
  if (hit.is_sensitive && hit.content === null) return h("p", { class: "muted" }, "A sensitive memory: its text is not shown.");
  // A memory's content begins with its title, which stands above it already.
  const whole = untitled(hit);
  const passage = hit.passage?.text;
  const text = passage ?? whole;
  const body = h("p", { class: "text" }, text.length > LONG ? `${text.slice(0, LONG)}…` : text);
  if (whole.length <= text.length && text.length <= LONG) return body;
  return [body, h("details", { class: "small" }, h("summary", {}, passage ? "The whole memory" : "All of it"), h("p", { class: "text" }, whole))];
}

export function hitCard(hit, other) {
  return h(
    "article",
    { class: "card hit", "data-id": hit.id },
    h(
      "div",
      { class: "row apart" },
      h("div", { class: "row" }, h("span", { class: "rank" }, String(hit.rank)), h("code", {}, hit.id), movement(hit.rank, other),
        hit.is_sensitive && h("span", { class: "tag warn" }, "sensitive")),
      h("span", { class: "small muted" }, [hit.scope, day(hit.created_at)].filter(Boolean).join(" · ")),
    ),
    hit.title && h("h3", {}, hit.title),
    words(hit),
    shares(hit.legs),
    (hit.paths ?? []).filter((path) => path.length).slice(0, 3).map(pathPicture),
    hit.as_of && h("p", { class: "small muted" }, hit.as_of),
  );
}
