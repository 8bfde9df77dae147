// A memory as pages show it: a hit with what found it, its text with the question's words lit, what it is evidence of.

import { get } from "../api.js";
import { count, day, h, interval, short } from "../dom.js";
import { filled } from "./messages.js";
import { pathPicture } from "./path.js";
import { lit, near } from "./words.js";

export const LEGS = ["lexical", "dense", "late", "graph"];
// What each leg goes by, as people say it, and at length.
const GOES_BY = {
  lexical: ["words", "The lexical leg: the question's own words"],
  dense: ["meaning", "The dense leg: how near the whole text is in meaning"],
  late: ["word by word", "Late interaction: each word of the question against each of the text"],
  graph: ["graph", "The graph leg: concepts that lead from the question to it"],
};
const PARTS = { threads: "said next to it", titles: "one names the other's title", names: "both name the same", facts: "a fact joins them", statements: "they state the same" };
const LONG = 420;

const ordinal = (number) => {
  const ending = number % 100 > 10 && number % 100 < 14 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[number % 10] ?? "th";
  return `${number.toLocaleString("en")}${ending}`;
};

// For each leg where it has the memory in its own list, and a bar of what that is worth beside the best of all hits.
function legRows({ legs, unseen }, most) {
  return h(
    "ul",
    { class: "plain legs", "aria-label": "Where each leg has it" },
    LEGS.map((leg) => {
      const part = legs[leg];
      const [word, meaning] = GOES_BY[leg];
      const where = part?.rank ? ordinal(part.rank) : part ? "not in its list" : leg in unseen ? "cannot see it" : "–";
      return h("li", { title: meaning }, h("span", {}, word),
        h("span", { class: "bar", "aria-hidden": "true" }, h("i", { class: `${leg}-back`, style: { width: `${Math.round((100 * Math.max(0, part?.contribution ?? 0)) / most)}%` } })),
        h("span", { class: "where" }, where));
    }),
  );
}

// How the graph moved a hit, on the list with it; on the list without, where it is with it.
function movement(rank, other, graph) {
  if (other === rank) return null;
  if (other === undefined) return h("span", { class: graph ? "tag new" : "tag" }, graph ? "only with the graph" : "not with the graph");
  return h("span", { class: "tag" }, graph ? `${other > rank ? "▲" : "▼"} from ${other} without the graph` : `${other} with the graph`);
}

// A text without the title that it begins with.
export function untitled({ title, content }) {
  const text = content ?? "";
  return title && text.startsWith(title) && text.length > title.length ? text.slice(title.length).trimStart() : text;
}

const HIDDEN = "A sensitive memory: its text is not shown.";

function shownText({ memory, passage: part }, words) {
  if (memory.is_sensitive && memory.content === null) return h("p", { class: "muted" }, HIDDEN);
  // A memory's content begins with its title, which stands above it already.
  const whole = untitled(memory);
  const passage = part?.text;
  const text = passage ?? whole;
  const body = h("p", { class: "text" }, lit(text.length > LONG ? `${text.slice(0, LONG)}…` : text, words));
  if (whole.length <= text.length && text.length <= LONG) return body;
  return [body, h("details", { class: "small" }, h("summary", {}, passage ? "The whole memory" : "All of it"), h("p", { class: "text" }, lit(whole, words)))];
}

// The words of the question that another memory has, and that memory, since it speaks for this one.
function neighbours(matches, beside) {
  const by = Map.groupBy(matches.filter(({ part, word }) => part && near(word)), (match) => match.by);
  return [...by].slice(0, 2).map(([id, found]) => {
    const text = beside.get(id);
    const words = found.map(({ word }) => word);
    return h("p", { class: "neighbour small" }, h("span", { class: "muted" }, `beside it (${PARTS[found[0].part] ?? found[0].part}): `),
      text ? lit(short(text, 180), words) : words.join(", "), " ", h("code", {}, id));
  });
}

const ended = ({ source, relation, target, valid_to: to, ended_by: by }) =>
  `${source} ${relation} ${target} (until ${day(to)}${by.length ? `, ended by ${by.join(", ")}` : ""})`;

// `asked` has the question's words, the best contribution of all hits, ranks of the other list, neighbours' texts.
export function hitCard(hit, { words, most, ranks, graph, beside }) {
  const { memory } = hit;
  const over = hit.facts.filter((fact) => fact.over);
  const own = hit.matches.filter(({ part }) => !part).map(({ word }) => word);
  return h(
    "article",
    { class: hit.outdated ? "card hit outdated" : "card hit", "data-id": memory.id },
    h(
      "div",
      { class: "said" },
      h("div", { class: "row small muted" }, h("span", { class: "rank" }, String(hit.rank)), h("code", {}, memory.id),
        h("span", {}, [memory.scope, day(memory.created_at)].filter(Boolean).join(" · ")),
        hit.outdated && h("span", { class: "tag warn" }, "over"),
        memory.is_sensitive && h("span", { class: "tag warn" }, "sensitive"), movement(hit.rank, ranks.get(memory.id), graph)),
      memory.title && h("h3", {}, lit(memory.title, [...own, ...words])),
      shownText(hit, [...own, ...(hit.legs.lexical ? words : [])]),
      over.length > 0 && h("p", { class: "small ended" }, `No longer so: ${over.map(ended).join("; ")}`),
      neighbours(hit.matches, beside),
      // A path of one step says what the text says already.
      hit.path.length > 3 && pathPicture(hit.path, memory.id),
      hit.as_of && h("p", { class: "small muted" }, hit.as_of),
    ),
    h("div", { class: "found" }, legRows(hit, most),
      hit.similarity !== null && h("p", { class: "small muted", title: "How near it is to the question, whatever else was found; 1 is the same" }, `nearness ${hit.similarity.toFixed(2)}`)),
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
  if (memory.is_sensitive && !memory.content) return h("p", { class: "muted small" }, HIDDEN);
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
