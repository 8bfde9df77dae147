// Mend: what people change by hand. Everything is shown before it is done, and stands in a log that takes it back.

import { get, post, remove } from "../api.js";
import { count, field, h, put, scrolling } from "../dom.js";
import { confirmed } from "../parts/confirm.js";
import { memoryText } from "../parts/memory.js";
import { done, empty, failure, filled } from "../parts/messages.js";
import { memorySearch, search } from "../parts/search.js";
import { tabs } from "../parts/tabs.js";

// Some work for a place: what it says, or the sentence why not; then the rest of the page follows.
async function act(place, work, after) {
  place.querySelectorAll("button").forEach((button) => (button.disabled = true));
  try {
    put(place, done(await work()));
    await after?.();
  } catch (error) {
    place.append(failure(error));
    place.querySelectorAll("button").forEach((button) => (button.disabled = false));
  }
}

const undoing = (entry) => post(`mend/log/${entry.id}/undo`);

function doneWithUndo(place, text, entry) {
  if (!entry) {
    put(place, done(text));
    return;
  }
  const undo = h("button", { class: "small", onclick: () => act(place, async () => {
    await undoing(entry);
    return "Taken back.";
  }) }, "Undo");
  put(place, done(text), h("div", { class: "row" }, undo));
  undo.focus();
}

// A button whose work gives what was done and its entry in the log, or nothing where somebody thought better of it.
function button(text, place, work, kind = "small") {
  return h("button", { class: kind, onclick: async () => {
    try {
      const [said, entry] = (await work()) ?? [];
      if (said) doneWithUndo(place, said, entry);
    } catch (error) {
      place.append(failure(error));
    }
  } }, text);
}

async function mergeConfirmed(kept, merged) {
  const change = await post("mend/merges", { kept, merged, dry_run: true });
  return confirmed({
    title: `Make “${change.other}” part of “${change.kept}”?`,
    body: h("ul", {},
      h("li", {}, `${count(change.names.length, "name")} would stand for “${change.kept}”: ${change.names.join(", ")}`),
      h("li", {}, `${count(change.memories, "memory", "memories")} would be about it`),
      h("li", {}, `${count(change.edges, "group of facts", "groups of facts")} would be derived again`),
      h("li", {}, "It can be undone.")),
    action: "Merge",
  });
}

function proposal(one) {
  const place = h("li", { class: "card proposal", "data-name": one.name });
  const side = (concept) => h("div", {}, h("strong", {}, concept.name), h("p", { class: "small muted" },
    [concept.kind, count(concept.memory_count, "memory", "memories"), concept.aliases.length > 1 && `${concept.aliases.length} names`].filter(Boolean).join(" · ")));
  const why = Object.entries(one.evidence).map(([kind, value]) => `${kind} ${value.toFixed(2)}`);
  const [a, b, score] = one.least_similar;
  const accept = button("Merge …", place, async () => (await mergeConfirmed(one.near, one.name))
    && [`“${one.other.name}” is part of “${one.one.name}” now.`, await post("mend/merges", { kept: one.near, merged: one.name })], "primary small");
  const refuse = button("Keep apart", place, async () =>
    [`“${one.name}” and “${one.near}” stay apart.`, await post("mend/merges/refuse", { name: one.name })]);
  return put(place,
    h("div", { class: "pair" }, side(one.one), h("span", { class: "tag" }, `alike ${one.score.toFixed(2)}`), side(one.other)),
    h("p", { class: "small" }, h("span", { class: "muted" }, "Why: "), `“${one.near}” and “${one.name}”`, why.length ? `: ${why.join(", ")}` : ": their vectors are near"),
    h("p", { class: "small" }, h("span", { class: "muted" }, "Least similar pair: "), `“${a}” and “${b}” (${score.toFixed(2)})`),
    h("div", { class: "row" }, accept, refuse));
}

function byHand() {
  const chosen = { kept: null, merged: null };
  const place = h("div", {});
  const finder = (label, which) => search({
    label, placeholder: "a name …",
    find: (text, signal) => get("concepts", { search: text, limit: 12 }, signal),
    text: (one) => one.name, describe: (one) => one.kind ?? "", chosen: (one) => (chosen[which] = one.name),
  });
  return h("section", { class: "card", "aria-label": "Merge two concepts" }, h("h2", {}, "Merge two of your own choice"),
    h("div", { class: "options" }, finder("This one stays", "kept"), finder("This one becomes part of it", "merged"),
      button("Preview the merge", place, async () => {
        put(place);
        if (!chosen.kept || !chosen.merged) throw new Error("choose two concepts first");
        return (await mergeConfirmed(chosen.kept, chosen.merged))
          && [`“${chosen.merged}” is part of “${chosen.kept}” now.`, await post("mend/merges", chosen)];
      }, "")),
    place);
}

function merges(place) {
  const list = h("div");
  put(place, list, byHand());
  filled(list, async () => {
    const proposals = await get("mend/merges", { limit: 50 });
    return proposals.length
      ? h("ul", { class: "plain" }, proposals.map(proposal))
      : empty("No name is undecided. Two concepts of your own choice can be merged below.");
  });
}

const MEANINGS = { NOOP: "repeats", UPDATE: "extends", DELETE: "contradicts" };

function curationItem(one) {
  const place = h("li", { class: "card proposal" });
  const gone = one.action === "NOOP" ? one.memory : one.older;
  const side = (id) => {
    const text = h("div");
    filled(text, async () => memoryText(await get(`memories/${encodeURIComponent(id)}`)));
    return h("div", {}, h("div", { class: "row" }, h("code", {}, id), gone === id && h("span", { class: "tag warn" }, "gives way")), text);
  };
  return put(place,
    h("p", {}, h("strong", {}, `The newer one ${MEANINGS[one.action] ?? one.action} the older one`)),
    h("div", { class: "versus" }, side(one.memory), side(one.older)),
    h("div", { class: "row" },
      button("Let it give way …", place, async () => (await confirmed({
        title: `Let ${gone} give way?`,
        body: h("p", {}, "Recall leaves it out from then on. Nothing is deleted, and it can be undone."), action: "Let it give way",
      })) && [`${gone} gave way.`, await post("mend/curation", one)])));
}

function curation(place) {
  filled(place, async () => {
    const { proposals, complete } = await get("mend/curation", { limit: 20 });
    const rest = complete ? null : h("p", { class: "muted" }, "There are more once these are decided, and ", h("code", {}, "hopgate curate"), " shows all.");
    if (proposals.length) return h("div", {}, h("ul", { class: "plain" }, proposals.map(curationItem)), rest);
    return complete ? empty("No memory repeats, extends or contradicts another.") : rest;
  }, "Comparing memories with older ones …");
}

function removalBody(preview, last) {
  const some = (words) => h("ul", {}, words.slice(0, 8).map((word) => h("li", {}, word)), words.length > 8 && h("li", {}, `and ${words.length - 8} more`));
  return h("div", {},
    preview.concepts.length ? [h("p", {}, `${count(preview.concepts.length, "concept")} that nothing else names would go:`), some(preview.concepts)] : h("p", {}, "No concept would go."),
    preview.edges.length ? [h("p", {}, `${count(preview.edges.length, "edge")} that nothing else supports would go:`), some(preview.edges)] : h("p", {}, "No edge would go."),
    preview.edges_kept > 0 && h("p", { class: "muted" }, `${count(preview.edges_kept, "edge")} would stay with other evidence.`),
    h("p", {}, h("strong", {}, last)));
}

function memories(place, context, bound) {
  const input = h("input", { type: "text", required: true, placeholder: "a memory's id", autocomplete: "off", value: context.parameters.get("memory") ?? "" });
  const found = h("div");
  const look = (id) => filled(found, async () => {
    const address = `memories/${encodeURIComponent(id)}`;
    const memory = await get(address);
    const box = h("div", { class: "card" });
    const change = (label, work, title, last, said, danger) => button(`${label} …`, box, async () => {
      const preview = await post("mend/removal/preview", { ids: [id] });
      if (!(await confirmed({ title, body: removalBody(preview, last), action: label, danger }))) return null;
      await work();
      return [said, bound || danger ? null : (await get("mend/log", { limit: 1 }))[0]];
    }, danger ? "danger small" : "small");
    return put(box, h("code", {}, id), memoryText(memory), h("div", { class: "row" },
      !memory.is_sensitive && change("Mark as sensitive", () => post(`${address}/sensitive`, { sensitive: true }), `Mark ${id} as sensitive?`, "Its vector, mentions and evidence go at once; it stays findable by its words.", `${id} is sensitive now.`),
      change("Delete", () => remove(address), `Delete ${id}?`, "This cannot be undone.", `${id} is deleted.`, true)));
  });
  const chosen = (id) => {
    input.value = id;
    context.keep({ memory: id });
    return look(id);
  };
  put(place, h("form", { class: "row end", onsubmit: (event) => {
    event.preventDefault();
    chosen(input.value.trim());
  } }, h("div", { class: "grow" }, memorySearch(chosen)), h("div", { class: "grow" }, field("Memory", input)), h("button", {}, "Look at it")), found);
  if (input.value) look(input.value);
}

function sentence(entry) {
  const names = [entry.one, entry.other].map((name) => name ?? "a name that is gone");
  if (entry.action === "merge") return `“${names[1]}” became part of “${names[0]}”`;
  if (entry.action === "keep apart") return `“${names[1]}” stays apart from “${names[0]}”`;
  const which = entry.memory_ids.length ? entry.memory_ids.join(", ") : count(entry.memories, "memory", "memories");
  return { supersede: `${which} gave way`, "mark sensitive": `${which} marked as sensitive`, delete: `${which} deleted` }[entry.action];
}

function log(place) {
  const show = () => filled(place, async () => {
    const entries = await get("mend/log", { limit: 100 });
    if (!entries.length) return empty("Nothing was changed by hand yet: what is, on this page or by a command, stands here and can be taken back.");
    return scrolling("Log", h("table", {},
      h("thead", {}, h("tr", {}, h("th", {}, "When"), h("th", {}, "What"), h("th", {}, "Undo"))),
      h("tbody", {}, entries.map((entry) => {
        const cell = h("td", {});
        if (entry.undone_at) put(cell, h("span", { class: "tag" }, "undone"));
        else if (entry.action === "delete") put(cell, h("span", { class: "small muted" }, "cannot be"));
        else put(cell, h("button", { class: "small", onclick: () => act(cell, async () => {
          await undoing(entry);
          return "undone";
        }) }, "Undo"));
        return h("tr", {}, h("td", { class: "small muted" }, entry.done_at.slice(0, 16).replace("T", " ")), h("td", {}, sentence(entry)), cell);
      }))));
  });
  show();
}

export async function show(place, context) {
  const { scopes, read_only: readOnly } = await context.about;
  const all = [
    ["merges", "Merges", merges],
    ["curation", "Curation", curation],
    ["memories", "One memory", (panel) => memories(panel, context, scopes)],
    ["log", "Log", log],
  ];
  const parts = scopes ? all.filter(([name]) => name === "memories") : all;
  put(
    place,
    h("header", {}, h("h1", {}, "Mend"), h("p", { class: "muted" }, "Merges, curation, marks and deletions by hand: each with a preview, in one transaction, and in a log that takes it back.")),
    readOnly && h("p", { class: "message" }, "This server is read-only: start ", h("code", {}, "hopgate serve"), " without ", h("code", {}, "--read-only"), " to change anything."),
    scopes && h("p", { class: "message" }, `This server is bound to ${scopes.join(", ")}: its memories can be marked and deleted here. Merges, curation and the log are about the whole store: start `, h("code", {}, "hopgate serve"), " without ", h("code", {}, "--scope"), " for them."),
    ...tabs("What to mend", parts, context.parameters.get("tab"), (tab) => context.keep({ tab: tab === parts[0][0] ? "" : tab })),
  );
}
