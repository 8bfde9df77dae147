// Time: what was true when, as it was known when; what changed; one concept's history; what contradicts what.

import { get } from "../api.js";
import { count, day, field, h, interval, put, scrolling } from "../dom.js";
import { historyPicture } from "../parts/history.js";
import { edgeLine, memoryItem } from "../parts/memory.js";
import { empty, failure, filled } from "../parts/messages.js";
import { search } from "../parts/search.js";

const DAY = 86_400_000;
const asDay = (time) => new Date(time).toISOString().slice(0, 10);

// A slider over days; its last place is "now", which asks for no time.
function clock(label, hint, from, to, value, moved) {
  const [first, last] = [Math.floor(Date.parse(from) / DAY), Math.ceil(Date.parse(to) / DAY) + 1];
  const place = value ? Math.min(last, Math.max(first, Math.floor(Date.parse(value) / DAY))) : last;
  const output = h("output", {});
  const input = h("input", { type: "range", min: first, max: last, step: 1, value: place });
  const text = () => (Number(input.value) >= last ? "no date: all of it" : asDay(Number(input.value) * DAY));
  const show = () => {
    output.value = text();
    input.setAttribute("aria-valuetext", text());
  };
  let wait = 0;
  input.addEventListener("input", () => {
    show();
    clearTimeout(wait);
    wait = setTimeout(moved, 180);
  });
  show();
  const box = field(label, input, hint);
  box.classList.add("clock");
  box.insertBefore(output, box.children[1]);
  box.moment = () => (Number(input.value) >= last ? null : asDay(Number(input.value) * DAY));
  return box;
}

async function then(asOf, knownAt) {
  const edges = await get("edges", { as_of: asOf, known_at: knownAt && `${knownAt}T23:59:59Z`, limit: 200 });
  const shown = edges.filter((edge) => edge.recorded_at || edge.valid_from || edge.valid_to);
  return [
    h("p", { class: "small muted", id: "then-count" }, `${shown.length >= 200 ? "The first " : ""}${count(shown.length, "edge")} ${asOf ? `true on ${asOf}` : "of any time"}${knownAt ? `, as known on ${knownAt}` : ""}`),
    shown.length
      ? scrolling("Edges then", h("table", { id: "then" },
          h("thead", {}, h("tr", {}, ["Source", "Relation", "Target", "True"].map((text) => h("th", {}, text)))),
          h("tbody", {}, shown.map((edge) => h("tr", {}, h("td", {}, edge.source), h("td", { class: "muted" }, edge.relation), h("td", {}, edge.target), h("td", { class: "small" }, interval(edge.valid_from, edge.valid_to).replaceAll("-", "\u2011")))))))
      : empty("Nothing was true and known then."),
  ];
}

async function changed(since, until, axis) {
  const found = await get("timeline/changes", { since, until: `${until}T23:59:59Z`, axis, limit: 100 });
  const words = axis === "valid" ? ["Began", "Ended"] : ["Became known", "Was given up"];
  return h("div", { class: "columns" }, [found.began, found.ended].map((edges, number) =>
    h("section", { "aria-label": words[number] }, h("h3", {}, `${words[number]} (${edges.length})`),
      edges.length ? scrolling(words[number], h("ul", { class: "plain" }, edges.map((edge) => h("li", { class: number ? "ended" : "began" }, edgeLine(edge, { known: axis === "known" }))))) : empty("Nothing."))));
}

async function history(id) {
  const [{ concept }, edges] = await Promise.all([get(`concepts/${id}`), get(`timeline/concepts/${id}`, { limit: 200 })]);
  const dated = edges.filter((edge) => edge.valid_from || edge.valid_to);
  return [
    h("div", { class: "row apart" }, h("h3", {}, concept.name), h("a", { href: `/graph?concept=${id}`, class: "small" }, "In the graph")),
    historyPicture(concept.name, dated.slice(0, 60)),
    h("details", { class: "small" }, h("summary", {}, `All versions (${edges.length})`), h("ul", { class: "plain" }, edges.map((edge) => h("li", {}, edgeLine(edge, { known: true }))))),
  ];
}

async function conflicts() {
  const [open, superseded] = await Promise.all(["conflicts", "superseded"].map((what) => get(`timeline/${what}`, { limit: 50 })));
  return h("div", { class: "columns" },
    h("section", { "aria-label": "Contradictions" }, h("h3", {}, `Edges that cannot both hold (${open.length})`),
      open.length
        ? scrolling("Contradictions", h("ul", { class: "plain" }, open.map((one) => h("li", { class: "card" },
            h("span", { class: one.settled ? "tag" : "tag danger" }, one.settled ? "the newer one ended the older" : "open: both are believed"),
            h("div", { class: "began" }, edgeLine(one.newer)), h("div", { class: "ended" }, edgeLine(one.older))))))
        : empty("No edge contradicts another.")),
    h("section", { "aria-label": "Superseded memories" }, h("h3", {}, `Memories that gave way (${superseded.length})`),
      superseded.length
        ? scrolling("Superseded", h("ul", { class: "plain" }, superseded.map((one) => h("li", { class: "card" },
            h("p", { class: "small" }, h("code", {}, one.memory), " gave way", one.by && [" to ", h("code", {}, one.by)], ` on ${day(one.since)}`, one.reason && `: ${one.reason}`),
            memoryItem(one.memory), one.by && memoryItem(one.by)))))
        : empty("No memory gave way to another: hopgate curate proposes some.")));
}

export async function show(place, context) {
  const heading = h("header", {}, h("h1", {}, "Time"), h("p", { class: "muted" }, "What was true, and what was known of it: two times, and the graph as it was at any of them."));
  put(place, heading);
  let span;
  try {
    span = await get("timeline/span");
  } catch (error) {
    put(place, heading, failure(error));
    return;
  }
  if (!span.valid_from && !span.known_from) {
    put(place, heading, h("p", { class: "message" }, "No edges yet: ", h("code", {}, "hopgate build"), " reads them, with their dates, out of the memories."));
    return;
  }
  const given = context.parameters;
  const edges = h("div", { class: "results" });
  const moved = () => {
    context.keep({ as_of: valid?.moment(), known_at: known?.moment() });
    return filled(edges, () => then(valid?.moment(), known?.moment()));
  };
  const valid = span.valid_from && clock("Valid time: what was true on", null, span.valid_from, span.valid_to, given.get("as_of"), moved);
  const known = span.known_from && clock("Known time: as it was known on", null, span.known_from, span.known_to, given.get("known_at"), moved);

  const since = h("input", { type: "date", required: true, value: given.get("since") ?? day(span.valid_from ?? span.known_from) });
  const until = h("input", { type: "date", required: true, value: given.get("until") ?? day(span.valid_to ?? span.known_to) });
  const axis = h("select", {}, h("option", { value: "valid" }, "what was true"), h("option", { value: "known" }, "what was known"));
  axis.value = given.get("axis") ?? "valid";
  const changes = h("div", { class: "results", id: "changes" });
  const compare = () => filled(changes, () => changed(since.value, until.value, axis.value));

  const past = h("div", { class: "results", id: "history" }, empty("Choose a concept."));
  const find = search({
    label: "A concept's history", placeholder: "a name …",
    find: (text, signal) => get("concepts", { search: text, limit: 12 }, signal),
    text: (one) => one.name, describe: (one) => one.kind ?? "",
    chosen: (one) => {
      context.keep({ concept: one.id }, { push: true });
      filled(past, () => history(one.id));
    },
  });
  const against = h("div", { class: "results", id: "conflicts" });

  put(
    place,
    heading,
    h("section", { class: "card", "aria-labelledby": "at-a-time" }, h("h2", { id: "at-a-time" }, "At a time"),
      h("div", { class: "clocks" }, valid || h("p", { class: "muted" }, "No edge says when it is true."), known),
      edges),
    h("section", { class: "card", "aria-labelledby": "changed" }, h("h2", { id: "changed" }, "What changed between two dates"),
      h("form", { class: "options", onsubmit: (event) => {
        event.preventDefault();
        context.keep({ since: since.value, until: until.value, axis: axis.value }, { push: true });
        compare();
      } }, field("After", since), field("Up to", until), field("Of", axis), h("button", {}, "Show what changed")),
      changes),
    h("section", { class: "card", "aria-labelledby": "one-concept" }, h("h2", { id: "one-concept" }, "One concept"), find, past),
    h("section", { class: "card", "aria-labelledby": "against" }, h("h2", { id: "against" }, "Contradictions and supersessions"), against),
  );
  await Promise.all([
    moved(),
    given.get("concept") && filled(past, () => history(given.get("concept"))),
    given.get("since") && compare(),
    filled(against, conflicts),
  ]);
}
