// A search with suggestions, usable by keyboard: arrows, Enter, Escape.

import { post } from "../api.js";
import { h, newId, put, short } from "../dom.js";
import { untitled } from "./memory.js";

export function search({ label, placeholder, find, chosen, describe, text }) {
  const list = h("ul", { id: newId("list"), role: "listbox", "aria-label": label, hidden: true });
  const input = h("input", {
    type: "search", id: newId("search"), role: "combobox", autocomplete: "off", spellcheck: "false", placeholder,
    "aria-expanded": "false", "aria-controls": list.id, "aria-autocomplete": "list",
  });
  let found = [];
  let at = -1;
  let asked = null;
  let wait = 0;

  const close = () => {
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const take = (index) => {
    const one = found[index];
    if (!one) return;
    input.value = text(one);
    close();
    chosen(one);
  };
  const mark = (index) => {
    at = index;
    [...list.children].forEach((item, number) => item.setAttribute("aria-selected", String(number === at)));
    const item = list.children[at];
    if (item) {
      input.setAttribute("aria-activedescendant", item.id);
      item.scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  };
  const look = async () => {
    asked?.abort();
    const mine = (asked = new AbortController());
    try {
      const result = await find(input.value.trim(), mine.signal);
      if (mine !== asked || document.activeElement !== input) return;
      found = result;
    } catch {
      return;
    }
    put(list, found.map((one, number) =>
      h("li", { id: newId("option"), role: "option", "aria-selected": "false",
        onpointerdown: (event) => { event.preventDefault(); take(number); } },
        h("span", {}, text(one)), h("span", {}, describe(one))),
    ));
    const nothing = !found.length && input.value.trim();
    if (nothing) put(list, h("li", { role: "option", "aria-disabled": "true", class: "nothing" }, "nothing is called so"));
    list.hidden = !found.length && !nothing;
    input.setAttribute("aria-expanded", String(!list.hidden));
    at = -1;
  };
  input.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(look, 120);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", async (event) => {
    if (event.key === "ArrowDown" && list.hidden) return look();
    if (event.key === "ArrowDown") mark(Math.min(at + 1, found.length - 1));
    else if (event.key === "ArrowUp") mark(Math.max(at - 1, -1));
    else if (event.key === "Escape" && !list.hidden) close();
    else if (event.key === "Enter") {
      event.preventDefault();
      clearTimeout(wait);
      if (list.hidden) await look();
      take(Math.max(at, 0));
      return;
    } else return;
    event.preventDefault();
  });
  const place = h("div", { class: "field combo" }, h("label", { for: input.id }, label), input, list);
  place.input = input;
  return place;
}

// A memory found by its words: nobody knows ids by heart.
export function memorySearch(chosen) {
  return search({
    label: "Find a memory by its words", placeholder: "some of its words …",
    find: async (query, signal) => (query ? (await post("recall", { query, k: 8, legs: ["lexical"], explain: false }, signal)).hits : []),
    text: ({ memory }) => (memory.content === null ? "a sensitive memory" : short(untitled(memory), 70)), describe: ({ memory }) => memory.id,
    chosen: ({ memory }) => chosen(memory.id),
  });
}
