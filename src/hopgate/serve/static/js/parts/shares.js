// What each leg gave a hit: a bar of shares, and each leg's rank in words.

import { h } from "../dom.js";

export const LEGS = ["lexical", "dense", "graph"];

export function shares(legs) {
  const given = LEGS.map((leg) => [leg, legs?.[leg]]).filter(([, part]) => part);
  const total = given.reduce((sum, [, part]) => sum + Math.max(0, part.contribution), 0);
  const words = given.map(([leg, part]) => `${leg} ${percent(part.contribution, total)}`).join(", ");
  return h(
    "div",
    { class: "shares" },
    h(
      "div",
      { class: "bar", role: "img", "aria-label": `Shares: ${words || "none"}` },
      total > 0 && given.map(([leg, part]) =>
        h("i", { class: `${leg}-back`, style: { width: `${(100 * Math.max(0, part.contribution)) / total}%` } }),
      ),
    ),
    h(
      "div",
      { class: "legs" },
      given.map(([leg, part]) =>
        h(
          "span",
          {},
          h("i", { class: `dot ${leg}-back` }),
          `${leg} ${percent(part.contribution, total)}`,
          part.rank ? ` · its rank ${part.rank}` : "",
        ),
      ),
    ),
  );
}

const percent = (share, total) => (total > 0 ? `${Math.round((100 * Math.max(0, share)) / total)} %` : "0 %");
