// The steps of a walk, one after another: where it starts, what it reaches next.

import { announce, count, h, put, short } from "../dom.js";

export function walkBar(query, walk, lit) {
  const last = Math.max(0, ...walk.nodes.map((node) => node.step));
  const text = h("span", { class: "small" });
  let step = 0;
  let timer = 0;
  const show = (to) => {
    step = Math.min(last, Math.max(0, to));
    const here = walk.nodes.filter((node) => node.step === step);
    const concepts = here.filter((node) => !node.is_memory);
    const words = [concepts.length && count(concepts.length, "concept"), here.length - concepts.length && count(here.length - concepts.length, "memory", "memories")].filter(Boolean);
    put(text, h("strong", {}, step === 0 ? "Where it starts" : `Step ${step} of ${last}`), ` · ${words.join(" and ")}: ${here.slice(0, 3).map((node) => short(node.text, 26)).join(", ")}${here.length > 3 ? ", …" : ""}`);
    place.dataset.step = step;
    before.disabled = step === 0;
    after.disabled = step === last;
    lit(step);
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  const before = h("button", { class: "small", onclick: () => { stop(); show(step - 1); } }, "Step back");
  const after = h("button", { class: "small", onclick: () => { stop(); show(step + 1); announce(text.textContent); } }, "Next step");
  const play = h("button", { class: "small", onclick: () => {
    if (timer) return stop();
    if (step === last) show(0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      if (!place.isConnected || step === last) stop();
      else show(step + 1);
    }, 1100);
  } }, "Play");
  const place = h("div", { class: "row apart card tight walk-bar", role: "group", "aria-label": "The walk" },
    h("div", { class: "grow" }, h("p", { class: "small muted" }, `The walk of “${query}”`), text), h("div", { class: "row" }, before, play, after));
  show(0);
  return place;
}
