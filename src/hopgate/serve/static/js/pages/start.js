// The start: what is in the store, and three questions to try, made of what its graph holds.

import { get } from "../api.js";
import { count, day, h } from "../dom.js";

// Questions by relation: of what is so now, and of what leads there. Of others the relation's own words are asked.
const ASKED = {
  "lives in": (name) => `Where does ${name} live now?`,
  "runs on": (name) => `What does ${name} run on now?`,
  "works at": (name) => `Where does ${name} work now?`,
  "owned by": (name) => `Who owns ${name} now?`,
  "located in": (name) => `Where is ${name} now?`,
};
const askedOf = ({ source, relation }) => ASKED[relation]?.(source) ?? `${source} ${relation} what?`;

// Of something that changed, of two concepts with a third between them, and of what most memories talk about.
function questions(edges, concepts) {
  const moved = edges.find((edge) => edge.valid_to && edges.some((other) => other.source === edge.source && other.relation === edge.relation && !other.valid_to));
  const first = moved ?? edges[0];
  const chains = edges.flatMap((edge) => edges.filter((next) => next.source === edge.target && next.target !== edge.source && !next.valid_to && !edge.valid_to).map((next) => [edge, next]));
  const [edge, next] = chains.find(([{ source }]) => source !== first?.source) ?? chains[0] ?? [];
  const known = concepts.find(({ kind }) => kind && !["tag", "keyword"].includes(kind)) ?? concepts[0];
  return [
    first && askedOf(first),
    edge && `What has ${edge.source} to do with ${next.target}?`,
    known && `What is there about ${known.name}?`,
    ...concepts.slice(0, 3).map(({ name }) => `What is there about ${name}?`),
  ].filter((text, at, all) => text && all.indexOf(text) === at).slice(0, 3);
}

export async function start(context) {
  const [about, concepts, edges, span] = await Promise.all([context.about, get("concepts", { limit: 40 }), get("edges", { limit: 200 }), get("timeline/span")]);
  const { store = {} } = about;
  if (store.memories === 0) return h("p", { class: "message" }, "The store is empty: ", h("code", {}, "hopgate ingest FOLDER"), " brings notes, chats, mail and tables in, ", h("code", {}, "hopgate add \"…\""), " one text.");
  const things = concepts.filter(({ kind }) => kind && kind !== "tag" && kind !== "keyword");
  const facts = [
    ["memories", store.memories, store.sensitive && `${store.sensitive.toLocaleString("en")} of them sensitive`],
    ["concepts", store.concepts, "people, places, things"],
    ["edges", store.edges, "what joins them"],
  ].filter(([, number]) => number !== undefined);
  const from = [span.known_from, span.valid_from].filter(Boolean).sort()[0];
  return h(
    "div",
    { class: "start" },
    h("section", { class: "card", "aria-labelledby": "to-try" }, h("h2", { id: "to-try" }, "Three questions to try"),
      h("ul", { class: "plain questions" }, questions(edges, concepts).map((text) => h("li", {}, h("a", { href: `/recall?${new URLSearchParams({ q: text })}` }, text)))),
      !edges.length && h("p", { class: "small muted" }, "There is no graph yet: ", h("code", {}, "hopgate build"), " reads it out of the memories.")),
    h("section", { class: "card", "aria-labelledby": "in-store" }, h("h2", { id: "in-store" }, "In this store"),
      h("dl", { class: "figures" }, facts.map(([name, number, more]) => h("div", {}, h("dd", {}, number.toLocaleString("en")), h("dt", {}, name, more && h("span", { class: "small muted" }, more))))),
      from && h("p", { class: "small muted" }, `${day(from)} to ${day([span.known_to, span.valid_to].filter(Boolean).sort().at(-1))}`),
      things.length > 0 && h("p", { class: "row chips" }, things.slice(0, 12).map(({ id, name, memory_count: number }) => h("a", { class: "tag", href: `/graph?concept=${id}`, title: count(number, "memory", "memories") }, name)))),
  );
}
