// Tabs by keyboard: arrows go round, the chosen one is in the address.

import { h, newId, put } from "../dom.js";

export function tabs(label, parts, chosen, changed) {
  const place = h("div", { role: "tabpanel", tabindex: "0", id: newId("panel") });
  const buttons = parts.map(([key, text]) =>
    h("button", { role: "tab", id: newId("tab"), "aria-controls": place.id, "data-tab": key, onclick: () => choose(key) }, text));
  function choose(key) {
    buttons.forEach((button) => {
      const mine = button.dataset.tab === key;
      button.setAttribute("aria-selected", String(mine));
      button.tabIndex = mine ? 0 : -1;
      if (mine) place.setAttribute("aria-labelledby", button.id);
    });
    changed(key);
    // Its own place: what another tab still waits for must not land in this one.
    const inside = h("div", { class: "tab-panel" });
    put(place, inside);
    parts.find(([one]) => one === key)[2](inside);
  }
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": label, onkeydown: (event) => {
    const at = buttons.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (at < 0 || !step) return;
    const next = buttons[(at + step + buttons.length) % buttons.length];
    next.focus();
    choose(next.dataset.tab);
    event.preventDefault();
  } }, buttons);
  choose(parts.some(([key]) => key === chosen) ? chosen : parts[0][0]);
  return [list, place];
}
