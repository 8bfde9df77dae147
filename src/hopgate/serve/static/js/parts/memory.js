// A memory as pages show it: a hit with each leg's share and the graph's path, its text, what it is evidence of.

import { get } from "../api.js";
import { count, day, h, interval, short } from "../dom.js";
import { filled } from "./messages.js";
import { pathPicture } from "./path.js";

export const LEGS = ["lexical", "dense", "late", "graph"];

// What each leg gave a hit: a bar of shares, and each leg's rank in words.
function shares(legs) {
  const given = LEGS.map((leg) => [leg, legs?.[leg]]).filter(([, part]) => part);
  const total = given.reduce((sum, [, part]) => sum + Math.max(0, part.contribution), 0);
  const words = given.map(([leg, part]) => `${leg} ${percent(part.contribution, total)}`).join(", ");
  return h(
    "div",
    { class: "shares" },
    h(
      "div",
      { class: "bar", role: "img", "aria-label": `Shares: ${words || "none"}` },
      total > 0 && given.map(([leg, part]) =>
        h("i", { class: `${leg}-back`, style: { width: `${(100 * Math.max(0, part.contribution)) / total}%` } }),
      ),
    ),
    h(
      "div",
      { class: "legs" },
      given.map(([leg, part]) =>
        h(
          "span",
          {},
          h("i", { class: `dot ${leg}-back` }),
          `${leg} ${percent(part.contribution, total)}`,
          part.rank ? ` · its rank ${part.rank}` : "",
        ),
      ),
    ),
  );
}

const percent = (share, total) => (total > 0 ? `${Math.round((100 * Math.max(0, share)) / total)} %` : "0 %");

// Which words of the query speak for a hit, and over which arc where another memory's matched them.
function matched(matches) {
  if (!matches.length) return null;
  const words = matches.map(({ word, by, part }) => (part ? [h("b", {}, word), " ← ", h("code", {}, by), ` (${part})`] : h("b", {}, word)));
  return h("p", { class: "small muted" }, "Matched: ", words.flatMap((each, at) => (at ? [", ", each] : [each])));
}

// On the side without the graph, where a hit is with it; on the side with it, where it was.
function movement(rank, other, graph) {
  if (other === rank) return null;
  if (other === undefined) return h("span", { class: graph ? "tag new" : "tag" }, graph ? "only with the graph" : "not with the graph");
  return h("span", { class: "tag" }, graph ? `${other > rank ? "▲" : "▼"} from ${other}` : `${other} with the graph`);
}

const LONG = 420;

// A text without the title that it begins with.
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

function ended({ source, relation, target, valid_to: to, ended_by: by }) {
  return `${source} ${relation} ${target}, over since ${day(to)}${by.length ? ` by ${by.join(", ")}` : ""}`;
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
        hit.outdated && h("span", { class: "tag warn" }, "over"),
        memory.is_sensitive && h("span", { class: "tag warn" }, "sensitive")),
      h("span", { class: "small muted" }, [memory.scope, day(memory.created_at)].filter(Boolean).join(" · ")),
    ),
    memory.title && h("h3", {}, memory.title),
    words(hit),
    hit.outdated && h("p", { class: "small" }, hit.facts.filter(({ over }) => over).map(ended).join("; ")),
    shares(hit.legs),
    matched(hit.matches),
    hit.path.length > 0 && pathPicture(hit.path, memory.id),
    hit.as_of && h("p", { class: "small muted" }, hit.as_of),
  );
}

// A memory's text, read when it is opened.
export function memoryItem(id) {
  const body = h("div");
  return h(
    "details",
    { class: "memory", ontoggle: (event) => {
      if (event.target.open && !body.childElementCount) filled(body, async () => memoryText(await get(`memories/${encodeURIComponent(id)}`)));
    } },
    h("summary", {}, h("code", {}, id)),
    body,
  );
}

export function memoryText(memory) {
  if (memory.is_sensitive && !memory.content) return h("p", { class: "muted small" }, "A sensitive memory: its text is not shown.");
  return [
    memory.title && h("h3", {}, memory.title),
    h("p", { class: "text" }, untitled(memory)),
    h("p", { class: "small muted" }, [memory.scope, (memory.created_at ?? "").slice(0, 10)].filter(Boolean).join(" · ")),
  ];
}

export async function conceptPanel(place, id, { centre }) {
  await filled(place, async () => {
    const { concept, memories, edges } = await get(`concepts/${id}`);
    const others = concept.aliases.filter((name) => name !== concept.name);
    return [
      h("div", { class: "row apart" }, h("h2", {}, concept.name), concept.kind && h("span", { class: "tag" }, concept.kind)),
      others.length > 0 && h("p", { class: "small muted" }, `Also: ${others.join(", ")}`),
      h("div", { class: "row" },
        h("a", { class: "button small", href: `/graph?concept=${id}` }, "Only its neighbourhood"),
        h("a", { class: "button small", href: `/time?concept=${id}` }, "Its history"),
        h("button", { class: "small", onclick: centre }, "Centre")),
      h("h3", {}, count(edges.length, "edge")),
      h("ul", { class: "plain small edges" }, edges.map((edge) =>
        h("li", {}, edge.source === concept.name ? h("strong", {}, edge.source) : edge.source, h("span", { class: "muted" }, ` — ${edge.relation} → `), edge.target === concept.name ? h("strong", {}, edge.target) : edge.target,
          (edge.valid_from || edge.valid_to) && h("span", { class: "muted" }, ` · ${interval(edge.valid_from, edge.valid_to)}`)))),
      h("h3", {}, `Memories (${concept.memory_count.toLocaleString("en")})`),
      h("div", { class: "memories" }, memories.map((memory) => h("details", { class: "memory" }, h("summary", {}, h("code", {}, memory.id), " ", h("span", {}, short(memory.title || memory.content || "", 48))), memoryText(memory)))),
    ];
  });
}

// An edge as a line of text with its interval, and its evidence to open.
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
