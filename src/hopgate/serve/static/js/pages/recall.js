// Recall: a question, its hits with and without the graph, and why a memory is not among them.

import { get, post } from "../api.js";
import { announce, count, field, h, put, scrolling, short } from "../dom.js";
import { LEGS, hitCard } from "../parts/memory.js";
import { empty, failure, filled } from "../parts/messages.js";
import { memorySearch } from "../parts/search.js";

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

function column(title, note, hits, others, graph, nothing) {
  const ranks = new Map(others.map((hit) => [hit.memory.id, hit.rank]));
  return h(
    "section",
    { class: "side", "aria-label": title },
    h("div", { class: "row apart" }, h("h2", {}, title), h("span", { class: "small muted" }, note)),
    hits.length
      ? h("ol", { class: "plain" }, hits.map((hit) => h("li", {}, hitCard(hit, ranks.get(hit.memory.id), graph))))
      : empty(nothing),
  );
}

function why(asked, parameters, context) {
  const input = h("input", { type: "text", value: parameters.get("why") ?? "", placeholder: "a memory's id", autocomplete: "off", required: true });
  const answer = h("div", { "aria-live": "polite" });
  const explain = async (id) => {
    context.keep({ why: id });
    await filled(answer, async () => explanation(await post("explain", { ...asked, id })));
  };
  const place = h(
    "section",
    { class: "card why", "aria-labelledby": "why-title" },
    h("h2", { id: "why-title" }, "Why is a memory not here?"),
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
  return place;
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

async function answers(parameters, context) {
  const asked = request(parameters);
  // The same question twice: the graph's weight is 0 on the left, and what is in force on the right.
  const without = { ...asked, graph: 0 };
  const [left, right] = await Promise.all([post("recall", { ...without, explain: true }), post("recall", { ...asked, explain: true })]);
  announce(`${count(right.hits.length, "hit")}`);
  const { store } = await context.about;
  const nothing = store?.memories === 0 ? "The store is empty: hopgate add and hopgate ingest bring memories in." : "Nothing answers: ask with other words, or take filters away.";
  const took = (answer) => `${Math.round(answer.took_ms)} ms`;
  return [
    h(
      "div",
      { class: "row apart small muted" },
      h("details", {}, h("summary", {}, "Settings in force"), h("p", {}, h("code", {}, right.settings)), h("p", {}, `From: ${right.origin}`)),
    ),
    h(
      "div",
      { class: "columns" },
      column("Without the graph", took(left), left.hits, right.hits, false, nothing),
      column("With the graph", took(right), right.hits, left.hits, true, nothing),
    ),
    why(asked, parameters, context),
  ];
}

export async function show(place, context) {
  const results = h("div", { class: "results", id: "results" });
  const ask = async (changes) => {
    context.keep(changes, { push: true });
    await filled(results, () => answers(new URLSearchParams(location.search), context), "Asking twice, with and without the graph …");
  };
  put(
    place,
    h("header", {}, h("h1", {}, "Recall"), h("p", { class: "muted" }, "One question, asked with and without the graph: what each leg gave every hit, and which way the graph came.")),
    form(context.parameters, ask),
    results,
  );
  try {
    if (context.parameters.get("q")) await filled(results, () => answers(context.parameters, context));
    else document.getElementById("question").focus();
  } catch (error) {
    put(results, failure(error));
  }
}
