// Sentences: what went wrong, what was done, what is not there.

import { announce, h, put } from "../dom.js";

export const empty = (text) => h("p", { class: "empty" }, text);

// A sentence begins with a capital here; the command line puts its name before it.
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// What this server does not do is no mistake of anybody's.
export function failure(error) {
  announce(error.message);
  return h("p", { class: error.status === 403 ? "message" : "message error", role: "alert" }, sentence(error.message));
}

// Who asked last for a place: an answer that comes after a later question's is not shown in its stead.
const latest = new WeakMap();

// Fills a place with what some work gives, or with the sentence that says why not.
export async function filled(place, work, waiting = "One moment …") {
  const asked = Symbol("asked");
  const overtaken = () => latest.get(place) !== asked;
  latest.set(place, asked);
  place.setAttribute("aria-busy", "true");
  if (place.childElementCount) place.classList.add("busy");
  else put(place, h("p", { class: "empty" }, waiting));
  try {
    const found = await work();
    if (!overtaken()) put(place, found);
  } catch (error) {
    if (error.name === "AbortError" || overtaken()) return;
    if (!error.status && error.name !== "ApiError" && error.status !== 0) console.error(error);
    put(place, failure(error));
  } finally {
    if (!overtaken()) {
      place.classList.remove("busy");
      place.removeAttribute("aria-busy");
    }
  }
}
