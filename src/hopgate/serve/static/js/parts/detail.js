// What is behind a click: a concept with its memories and edges, or a memory with its text.

import { get } from "../api.js";
import { count, h, interval, short } from "../dom.js";
import { untitled } from "./hit.js";
import { filled } from "./messages.js";

// A memory's text, read when it is opened.
export function memoryItem(id) {
  const body = h("div");
  return h(
    "details",
    { class: "memory", ontoggle: (event) => {
      if (event.target.open && !body.childElementCount) filled(body, async () => memoryText(await get(`memories/${encodeURIComponent(id)}`)));
    } },
    h("summary", {}, h("code", {}, id)),
    body,
  );
}

export function memoryText(memory) {
  if (memory.is_sensitive && !memory.content) return h("p", { class: "muted small" }, "A sensitive memory: its text is not shown.");
  return [
    memory.title && h("h3", {}, memory.title),
    h("p", { class: "text" }, untitled(memory)),
    h("p", { class: "small muted" }, [memory.scope, (memory.created_at ?? "").slice(0, 10)].filter(Boolean).join(" · ")),
  ];
}

export async function memoryPanel(place, id) {
  await filled(place, async () => [h("h2", {}, "Memory"), h("code", {}, id), memoryText(await get(`memories/${encodeURIComponent(id)}`))]);
}

export async function conceptPanel(place, id, { centre }) {
  await filled(place, async () => {
    const { concept, memories, edges } = await get(`concepts/${id}`);
    const others = concept.aliases.filter((name) => name !== concept.name);
    return [
      h("div", { class: "row apart" }, h("h2", {}, concept.name), concept.kind && h("span", { class: "tag" }, concept.kind)),
      others.length > 0 && h("p", { class: "small muted" }, `Also: ${others.join(", ")}`),
      h("div", { class: "row" },
        h("a", { class: "button small", href: `/graph?concept=${id}` }, "Only its neighbourhood"),
        h("a", { class: "button small", href: `/time?concept=${id}` }, "Its history"),
        h("button", { class: "small", onclick: centre }, "Centre")),
      h("h3", {}, count(edges.length, "edge")),
      h("ul", { class: "plain small edges" }, edges.map((edge) =>
        h("li", {}, edge.source === concept.name ? h("strong", {}, edge.source) : edge.source, h("span", { class: "muted" }, ` — ${edge.relation} → `), edge.target === concept.name ? h("strong", {}, edge.target) : edge.target,
          (edge.valid_from || edge.valid_to) && h("span", { class: "muted" }, ` · ${interval(edge.valid_from, edge.valid_to)}`)))),
      h("h3", {}, `Memories (${concept.memory_count.toLocaleString("en")})`),
      h("div", { class: "memories" }, memories.map((memory) => h("details", { class: "memory" }, h("summary", {}, h("code", {}, memory.id), " ", h("span", {}, short(memory.title || memory.content || "", 48))), memoryText(memory)))),
    ];
  });
}
