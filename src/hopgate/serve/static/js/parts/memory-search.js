// A memory found by its words: nobody knows ids by heart.

import { post } from "../api.js";
import { short } from "../dom.js";
import { untitled } from "./hit.js";
import { search } from "./search.js";

export function memorySearch(chosen) {
  return search({
    label: "Find a memory by its words", placeholder: "some of its words …",
    find: async (query, signal) => (query ? (await post("recall", { query, k: 8, legs: ["lexical"], explain: false }, signal)).hits : []),
    text: (hit) => (hit.content === null ? "a sensitive memory" : short(untitled(hit), 70)), describe: (hit) => hit.id,
    chosen: (hit) => chosen(hit.id),
  });
}
