// Gate: does the graph help on this store? Run one and watch it, look at its report, apply what it chose.

import { get, post } from "../api.js";
import { announce, day, field, h, put, scrolling } from "../dom.js";
import { confirmed } from "../parts/confirm.js";
import { done, empty, failure, filled } from "../parts/messages.js";

const TONES = { OPEN: "tag new", CLOSED: "tag warn", INCONCLUSIVE: "tag", INVALID: "tag danger" };
const ABOUT = [["new", "new conversations"], ["these", "further questions on these"]];
const PATIENCE = 700;

const when = (gate) => `${day(gate.begun)} ${gate.begun.slice(11, 16)}`;

function state(gate) {
  if (gate.verdict) return h("span", { class: TONES[gate.verdict] ?? "tag" }, gate.verdict);
  return h("span", { class: gate.state === "failed" ? "tag danger" : "tag" }, gate.state);
}

// A gate that runs is asked how far it is until it ends, or until the page is left.
function follow(place, id, isHere, ended) {
  const bar = h("progress", { "aria-label": "Progress of the gate" });
  const text = h("p", { class: "small", role: "status" });
  const cancel = h("button", { class: "small", onclick: () => post(`gates/${id}/cancel`).catch((error) => put(text, error.message)) }, "Cancel");
  put(place, h("div", { class: "card running", "data-gate": id }, h("div", { class: "row apart" }, h("h2", {}, "Running"), cancel), bar, text));
  const look = async () => {
    if (!isHere()) return;
    try {
      const gate = await get(`gates/${id}`);
      if (gate.state !== "running") {
        put(place);
        announce(`The gate ended: ${gate.verdict ?? gate.state}`);
        ended(gate);
        return;
      }
      const { stage, done: finished, total } = gate;
      text.textContent = total ? `${stage}: ${finished} of ${total}` : (stage ?? "starting");
      if (total) Object.assign(bar, { max: total, value: Math.min(finished, total) });
      else bar.removeAttribute("value");
    } catch (error) {
      put(text, error.message);
    }
    setTimeout(look, PATIENCE);
  };
  look();
}

async function detail(id, changed) {
  const gate = await get(`gates/${id}`);
  const outcome = h("div");
  const apply = async () => {
    try {
      const open = gate.verdict === "OPEN";
      const sure = await confirmed({
        title: "Make this gate's choice the store's own settings?",
        body: h("div", {}, h("p", {}, h("code", {}, gate.chosen ?? "the strongest arm without the graph")),
          !open && h("p", {}, h("strong", {}, `The gate is ${gate.verdict}, not OPEN: nothing shows that this is better.`))),
        action: open ? "Apply" : "Apply all the same", danger: !open,
      });
      if (!sure) return;
      const { applied } = await post(`gates/${id}/apply`, { force: !open });
      put(outcome, done(`Applied: ${Object.entries(applied).map(([name, value]) => `${name} ${value}`).join(", ") || "nothing had to change"}.`));
      changed();
    } catch (error) {
      put(outcome, failure(error));
    }
  };
  return h("section", { class: "card", "aria-label": "The gate" },
    h("div", { class: "row apart" }, h("h2", {}, `Gate of ${when(gate)}`), state(gate)),
    gate.error && h("p", { class: "message error" }, gate.error),
    gate.headline && h("p", {}, gate.headline),
    gate.todo && h("p", {}, h("strong", {}, "What to do now: "), gate.todo),
    gate.chosen && h("details", { class: "small" }, h("summary", {}, "What it chose"), h("code", {}, gate.chosen)),
    gate.verdict && h("div", { class: "row" }, h("button", { class: "small", disabled: gate.applied, onclick: apply }, gate.applied ? "In force" : "Apply …"),
      h("a", { class: "button small", href: `/api/v1/gates/${id}/report`, target: "_blank", rel: "noopener" }, "The report alone")),
    outcome,
    gate.verdict && h("iframe", { class: "report", sandbox: "", src: `/api/v1/gates/${id}/report`, title: "The gate's report", loading: "lazy" }));
}

export async function show(place, context) {
  let here = true;
  const running = h("div");
  const list = h("div", { class: "results" });
  const shown = h("div", { class: "results", id: "shown" });

  const look = (id, push = true) => {
    context.keep({ gate: id }, { push });
    return filled(shown, () => detail(id, listed));
  };
  function runForm(questions) {
    if (!questions.length) {
      return h("p", { class: "message" }, "To run one here, say which questions: ", h("code", {}, "hopgate serve --questions DIR"), ", with a folder of queries and judgements about this store's memories.");
    }
    const set = h("select", {}, questions.map((name) => h("option", { value: name }, name)));
    const about = h("select", {}, ABOUT.map(([value, text]) => h("option", { value }, text)));
    const shuffles = h("input", { type: "number", min: 19, max: 200, value: 39, required: true });
    const said = h("div");
    return h("form", { class: "card", "aria-label": "Run a gate", onsubmit: async (event) => {
      event.preventDefault();
      try {
        const gate = await post("gates", { questions: set.value, about: about.value, shuffles: Number(shuffles.value) });
        put(said);
        watch(gate.id);
      } catch (error) {
        put(said, failure(error));
      }
    } }, h("h2", {}, "Run a gate"), h("div", { class: "options" }, field("Questions", set), field("What the verdict is about", about), field("Shuffled graphs as a control", shuffles), h("button", { class: "primary" }, "Run")), said);
  }

  function table(gates) {
    if (!gates.length) return empty("This store has no gate yet: the first one that is run is listed here.");
    return h("section", { class: "card", "aria-label": "Gates" }, h("h2", {}, `Gates (${gates.length})`),
      scrolling("Gates", h("table", { id: "gates" },
        h("thead", {}, h("tr", {}, h("th", {}, "Begun"), h("th", {}, "Verdict"))),
        h("tbody", {}, gates.map((gate) => h("tr", {},
          h("td", {}, h("a", { href: `/gate?gate=${gate.id}`, onclick: (event) => { event.preventDefault(); look(gate.id); } }, when(gate)), h("div", { class: "small muted" }, `on ${gate.questions}`)),
          h("td", {}, h("div", { class: "row" }, state(gate), gate.applied && h("span", { class: "tag new" }, "in force")))))))));
  }

  const watch = (id) => follow(running, id, () => here, async (gate) => {
    await listed();
    look(gate.id, false);
  });

  async function listed() {
    await filled(list, async () => {
      const { gates, questions } = await get("gates");
      const busy = gates.find((gate) => gate.state === "running");
      if (busy && !running.childElementCount) watch(busy.id);
      return [runForm(questions), table(gates)];
    });
  }

  const { scopes } = await context.about;
  put(place, h("header", {}, h("h1", {}, "Gate"), h("p", { class: "muted" }, "Does the graph help on this store? A gate measures it on questions whose answers are known, and says OPEN only where that is shown.")),
    scopes
      ? h("p", { class: "message" }, `A gate is about the whole store, and this server is bound to ${scopes.join(", ")}: start `, h("code", {}, "hopgate serve"), " without ", h("code", {}, "--scope"), " to run or look at one.")
      : [running, list, shown]);
  if (scopes) return null;
  await listed();
  if (context.parameters.get("gate")) await filled(shown, () => detail(context.parameters.get("gate"), listed));
  return () => {
    here = false;
  };
}
