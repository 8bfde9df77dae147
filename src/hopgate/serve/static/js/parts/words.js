// The question's words in a text, lit.

import { h } from "../dom.js";

const WORD = /[\p{L}\p{N}]+/gu;
// Words so short, and these, are in every text.
const SHORT = 3;
const SMALL = new Set("the and for are was were has have had did does does that this with what when where which who whom whose how why from into not you your der die das und ist sind war hat was wer wie wann wohin ein eine von mit".split(" "));

const plain = (word) => word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

// Whether a word says something of what is asked.
export const near = (word) => word.length >= SHORT && !SMALL.has(plain(word));

export const wordsOf = (text) => (text.match(WORD) ?? []).filter(near);

// "live", "lives" and "living" are one word; "are" and "area" are two.
function alike(one, other) {
  if (one === other) return true;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  let shared = 0;
  while (shared < short.length && short[shared] === long[shared]) shared += 1;
  return shared >= 4 && shared >= short.length - 1 && long.length - shared <= 3;
}

// A text as pieces, of which those that are one of some words are marked.
export function lit(text, words) {
  const wanted = words.filter(near).map(plain);
  const pieces = [];
  let at = 0;
  for (const found of text.matchAll(WORD)) {
    const word = plain(found[0]);
    if (!near(word) || !wanted.some((one) => alike(one, word))) continue;
    pieces.push(text.slice(at, found.index), h("mark", {}, found[0]));
    at = found.index + found[0].length;
  }
  return [...pieces, text.slice(at)];
}
