// Recall: a question and its hits, with or without the graph; what an assistant would get; why a memory is not here.

import { get, post } from "../api.js";
import { announce, count, field, h, put, scrolling, short } from "../dom.js";
import { LEGS, hitCard, untitled } from "../parts/memory.js";
import { empty, failure, filled } from "../parts/messages.js";
import { memorySearch } from "../parts/search.js";
import { tabs } from "../parts/tabs.js";
import { near, wordsOf } from "../parts/words.js";
import { start } from "./start.js";

const shown = (value) => Number(value).toFixed(2).replace(/\.?0+$/, "");

// What the address and the form hold, as the API takes it.
function request(parameters) {
  const scopes = (parameters.get("scope") ?? "").split(",").map((one) => one.trim()).filter(Boolean);
  const asked = {
    query: parameters.get("q") ?? "",
    k: Number(parameters.get("k") ?? 10),
    scope: scopes.length ? scopes : null,
    as_of: parameters.get("as_of") || null,
    known_at: parameters.get("known_at") || null,
    ...Object.fromEntries(LEGS.map((leg) => [leg, parameters.has(leg) ? Number(parameters.get(leg)) : null])),
    rerank: parameters.get("rerank") === "1",
    cluster: parameters.has("cluster") ? Number(parameters.get("cluster")) : null,
  };
  // What is not set is left to the server.
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null));
}

function weightSlider(leg, value) {
  const output = h("output", { class: "small muted" }, value === null ? "as in force" : shown(value));
  const input = h("input", { type: "range", name: leg, min: 0, max: 2, step: 0.05, value: value ?? 1 });
  input.dataset.set = value === null ? "" : "1";
  input.addEventListener("input", () => {
    input.dataset.set = "1";
    output.value = shown(input.value);
  });
  input.reset = () => {
    input.dataset.set = "";
    input.value = 1;
    output.value = "as in force";
  };
  const place = field(`Weight of ${leg}`, input);
  place.append(output);
  place.input = input;
  return place;
}

// The clusters to choose from; they may have to be found first, so that nobody waits for them who does not look.
function clusterChoice(chosen) {
  const select = h("select", {}, h("option", { value: "" }, "all"));
  if (chosen) select.append(h("option", { value: chosen }, `cluster ${chosen}`));
  select.value = chosen ?? "";
  select.load = async () => {
    select.load = () => {};
    const { clusters } = await get("clusters").catch(() => ({ clusters: [] }));
    const several = clusters.filter((one) => one.size > 1);
    const now = select.value;
    put(select, h("option", { value: "" }, "all"), several.map((one) => h("option", { value: one.id }, `${short(one.label)} (${one.size})`)));
    select.value = now;
  };
  return select;
}

function form(parameters, ask) {
  // As high as the question is long, on a phone too; Enter asks.
  const question = h("textarea", {
    name: "q", id: "question", rows: 1, value: parameters.get("q") ?? "", required: true, autocomplete: "off",
    placeholder: "Ask your memories …", enterkeyhint: "search",
    onkeydown: (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      event.target.form.requestSubmit();
    },
  });
  const scope = h("input", { type: "text", value: parameters.get("scope") ?? "", placeholder: "all", autocomplete: "off" });
  const asOf = h("input", { type: "date", value: parameters.get("as_of") ?? "" });
  const knownAt = h("input", { type: "date", value: parameters.get("known_at") ?? "" });
  const sliders = LEGS.map((leg) => weightSlider(leg, parameters.has(leg) ? Number(parameters.get(leg)) : null));
  const rerank = h("input", { type: "checkbox", id: "rerank", checked: parameters.get("rerank") === "1" });
  const cluster = clusterChoice(parameters.get("cluster"));
  const changed = ["scope", "as_of", "known_at", "rerank", "cluster", ...LEGS].some((name) => parameters.has(name));
  return h(
    "form",
    {
      class: "card ask", role: "search", "aria-label": "Recall",
      onsubmit: (event) => {
        event.preventDefault();
        const changes = {
          q: question.value.trim(), scope: scope.value.trim(), as_of: asOf.value, known_at: knownAt.value,
          rerank: rerank.checked ? "1" : "", cluster: cluster.value, why: "",
        };
        sliders.forEach((one, number) => {
          changes[LEGS[number]] = one.input.dataset.set ? one.input.value : "";
        });
        if (changes.q) ask(changes);
      },
    },
    h("label", { for: "question", class: "hidden-text" }, "Question"),
    h("div", { class: "row" }, h("div", { class: "grow" }, question), h("button", { class: "primary" }, "Recall")),
    h(
      "details",
      { open: changed, ontoggle: (event) => event.target.open && cluster.load() },
      h("summary", {}, "Scope, times, weights, re-ranker"),
      h(
        "div",
        { class: "options" },
        field("Scopes, by commas", scope), field("As of (true then)", asOf), field("Known at (known then)", knownAt),
        field("Only within a cluster", cluster),
        h("div", { class: "options weights" }, sliders),
        h(
          "div",
          { class: "row" },
          h("label", { class: "check" }, rerank, "Re-ranker reads the top again"),
          h("button", { type: "button", class: "small quiet", onclick: () => sliders.forEach((one) => one.input.reset()) },
            "Weights as they were"),
        ),
      ),
    ),
  );
}

function why(place, asked, parameters, context) {
  const input = h("input", { type: "text", value: parameters.get("why") ?? "", placeholder: "a memory's id", autocomplete: "off", required: true });
  const answer = h("div", { "aria-live": "polite" });
  const explain = async (id) => {
    context.keep({ why: id });
    await filled(answer, async () => explanation(await post("explain", { ...asked, id })));
  };
  put(
    place,
    h("p", { class: "muted" }, "Name a memory, by its words or by its id: each leg says where it has it, and what left it out."),
    h(
      "form",
      { class: "row end", onsubmit: (event) => { event.preventDefault(); explain(input.value.trim()); } },
      h("div", { class: "grow" }, memorySearch((id) => {
        input.value = id;
        explain(id);
      })),
      h("div", { class: "grow" }, field("Memory", input)),
      h("button", {}, "Explain"),
    ),
    answer,
  );
  if (parameters.get("why")) explain(parameters.get("why"));
}

function explanation(found) {
  return h(
    "div",
    { class: "explanation" },
    h("p", {}, h("strong", {}, found.present ? `It is here, at rank ${found.rank}. ` : "It is not here: "), found.sentence.replace(`${found.external_id} is not here: `, "")),
    found.removed_by?.length > 0 && h("ul", {}, found.removed_by.map((one) => h("li", {}, one))),
    scrolling(
      "Legs",
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, h("th", {}, "Leg"), h("th", { class: "number" }, "Rank"), h("th", { class: "number" }, "Score"), h("th", {}, "What it saw"))),
        h("tbody", {}, Object.entries(found.legs ?? {}).map(([leg, part]) =>
          h("tr", {}, h("td", {}, h("i", { class: `dot ${leg}-back` }), ` ${leg}`), h("td", { class: "number" }, part?.rank ?? "–"),
            h("td", { class: "number" }, part?.score === null || part?.score === undefined ? "–" : part.score.toFixed(4)),
            h("td", {}, part?.reason ?? "")))),
      ),
    ),
  );
}

// The texts of memories that speak for hits and are none themselves.
async function besides(hits) {
  const texts = new Map(hits.map(({ memory }) => [memory.id, memory.content === null ? "" : untitled(memory)]));
  const ids = new Set(hits.flatMap(({ matches }) => matches.filter(({ part, word }) => part && near(word)).map(({ by }) => by)));
  await Promise.all([...ids].filter((id) => !texts.has(id)).map(async (id) => {
    const memory = await get(`memories/${encodeURIComponent(id)}`).catch(() => null);
    texts.set(id, memory?.content ? untitled(memory) : "");
  }));
  return texts;
}

// One list; the switch shows the same question's hits without the graph, which were asked for at the same time.
async function memories(asked, context) {
  const without = { ...asked, parts: [] };
  const [plain, full] = await Promise.all([post("recall", without), post("recall", asked)]);
  const beside = await besides([...plain.hits, ...full.hits]);
  const { store } = await context.about;
  const nothing = store?.memories === 0 ? "The store is empty: hopgate add and hopgate ingest bring memories in." : "Nothing answers: ask with other words, or take filters away.";
  const list = h("div");
  const show = (graph) => {
    const [answer, other] = graph ? [full, plain] : [plain, full];
    const most = Math.max(1e-9, ...answer.hits.flatMap(({ legs }) => Object.values(legs).map((part) => part.contribution)));
    const told = { words: wordsOf(asked.query), most, ranks: new Map(other.hits.map((hit) => [hit.memory.id, hit.rank])), graph, beside };
    put(list,
      answer.hits.length ? h("ol", { class: "plain" }, answer.hits.map((hit) => h("li", {}, hitCard(hit, told)))) : empty(nothing),
      h("details", { class: "small muted" }, h("summary", {}, `Settings in force, ${Math.round(answer.took_ms)} ms`), h("p", {}, h("code", {}, answer.settings)), h("p", {}, `From: ${answer.origin}`)));
    announce(count(answer.hits.length, "hit"));
  };
  const graph = h("input", { type: "checkbox", role: "switch", id: "with-graph", checked: context.parameters.get("graph_off") !== "1" });
  graph.addEventListener("change", () => {
    context.keep({ graph_off: graph.checked ? "" : "1" });
    show(graph.checked);
  });
  show(graph.checked);
  return [h("label", { class: "check" }, graph, "With the graph"), list];
}

const LENGTHS = [500, 1000, 2000, 4000];

// What an assistant is given, as POST /context writes it.
async function assistant(place, { k: _, ...asked }, context) {
  const tokens = h("select", { onchange: () => {
    context.keep({ tokens: tokens.value });
    write();
  } }, LENGTHS.map((length) => h("option", { value: length }, `${length.toLocaleString("en")} tokens`)));
  tokens.value = new URLSearchParams(location.search).get("tokens") ?? 2000;
  const written = h("div");
  const write = () => filled(written, async () => {
    const made = await post("context", { ...asked, tokens: Number(tokens.value) });
    if (!made.text) return empty("Nothing near is stored: an assistant would be told so.");
    return [
      h("p", { class: "small muted" }, `${made.tokens.toLocaleString("en")} tokens, ${count(made.citations.length, "citation")}; sensitive memories are never in it`),
      h("pre", { class: "context", tabindex: "0" }, made.text),
    ];
  });
  put(place, h("div", { class: "row end" }, field("At most", tokens),
    h("button", { class: "small", type: "button", onclick: () => navigator.clipboard?.writeText(written.querySelector("pre")?.textContent ?? "") }, "Copy")), written);
  await write();
}

function answers(parameters, context) {
  const asked = request(parameters);
  return tabs("What is shown", [
    ["memories", "Memories", (place) => filled(place, () => memories(asked, context), "Asking with and without the graph …")],
    ["context", "For an assistant", (place) => assistant(place, asked, context)],
    ["why", "Why not here?", (place) => why(place, asked, parameters, context)],
  ], parameters.get("tab") ?? (parameters.get("why") ? "why" : "memories"), (tab) => context.keep({ tab: tab === "memories" ? "" : tab }));
}

export async function show(place, context) {
  const results = h("div", { class: "results", id: "results" });
  const shown = (parameters) => (parameters.get("q") ? put(results, answers(parameters, context)) : filled(results, () => start(context)));
  const ask = (changes) => {
    context.keep({ tab: "", ...changes }, { push: true });
    shown(new URLSearchParams(location.search));
  };
  put(place, h("h1", { class: "hidden-text" }, "Recall"), form(context.parameters, ask), results);
  try {
    await shown(context.parameters);
    if (!context.parameters.get("q")) document.getElementById("question").focus({ preventScroll: true });
  } catch (error) {
    put(results, failure(error));
  }
}
