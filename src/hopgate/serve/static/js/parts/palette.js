// Colours that tell kinds and communities apart, on a light and on a dark ground.

const APART = ["#3579d0", "#d06a10", "#2b9566", "#b34a98", "#c74343", "#7c69d8", "#97791f", "#2590a3", "#78852f", "#a3663f", "#5f7d95", "#b06a7a"];
export const NONE = "#8a9399";

// Names get colours in the order given; after the last colour they begin again.
export const colours = (names) => new Map(names.map((name, at) => [name, name === "" || name === null ? NONE : APART[at % APART.length]]));

const EARLY = [53, 104, 200];
const LATE = [222, 110, 24];

// From early (blue) to late (orange).
export function along(share) {
  const at = Math.min(1, Math.max(0, share));
  const [r, g, b] = EARLY.map((value, number) => Math.round(value + (LATE[number] - value) * at));
  return `#${[r, g, b].map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
