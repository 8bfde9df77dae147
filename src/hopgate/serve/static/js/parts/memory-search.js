// A memory found by its words: nobody knows ids by heart.

import { post } from "../api.js";
import { short } from "../dom.js";
import { untitled } from "./hit.js";
import { search } from "./search.js";

export function memorySearch(chosen) {
  return search({
    label: "Find a memory by its words", placeholder: "some of its words …",
    find: async (query, signal) => (query ? (await post("recall", { query, k: 8, legs: ["lexical"], explain: false }, signal)).hits : []),
    text: ({ memory }) => (memory.content === null ? "a sensitive memory" : short(untitled(memory), 70)), describe: ({ memory }) => memory.id,
    chosen: ({ memory }) => chosen(memory.id),
  });
}
