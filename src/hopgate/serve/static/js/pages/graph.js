// Graph: the largest concepts, clusters and neighbourhoods to look around in.

import { around, get } from "../api.js";
import { announce, count, field, h, put } from "../dom.js";
import { graphCanvas } from "../parts/canvas.js";
import { conceptPanel } from "../parts/memory.js";
import { failure } from "../parts/messages.js";
import { noCanvas } from "../parts/no-canvas.js";
import { along, colours, NONE } from "../parts/palette.js";
import { search } from "../parts/search.js";

// Of a larger graph so many of the largest concepts are drawn, and with those that no edge joins fewer.
const WHOLE = 500;
const ALONE_TOO = 400;
// What joins concepts that no edge joins, in a picture of a few.
const TOGETHER = "mentioned together";
const LISTED = 150;

const concept = (node) => ({ ...node, key: `c${node.id}` });
const line = (edge) => ({ ...edge, source: `c${edge.source}`, target: `c${edge.target}` });
const view = (found) => ({ nodes: found.concepts.map(concept), edges: found.edges.map(line) });

export async function show(place, context) {
  const stage = h("div", { class: "stage", role: "application", tabindex: "0", "aria-label": "The graph: arrow keys move, plus and minus zoom; the list beside it holds the same concepts" });
  const status = h("p", { class: "small muted status", role: "status" });
  const panel = h("aside", { class: "card detail", "aria-label": "Selected" }, h("p", { class: "muted" }, "Click a concept: its memories and edges show here, and its neighbours join the picture. Concepts and the whole picture can be dragged; in a large one edges and labels step back while it moves."));
  const legend = h("ul", { class: "plain legend", "aria-label": "Legend" });
  const relations = h("fieldset", { class: "relations" }, h("legend", {}, "Edge types"));
  const list = h("ul", { class: "plain names" });
  const colourBy = h("select", { name: "colour" }, [["kind", "kind"], ["cluster", "cluster"], ["time", "time: last spoken of"]].map(([value, text]) => h("option", { value }, text)));
  colourBy.value = context.parameters.get("colour") ?? "kind";
  const hidden = new Set(context.parameters.getAll("without"));
  const alone = h("button", { class: "small", "aria-pressed": "false", title: "Also concepts that no edge joins", onclick: () => open({ all: alone.getAttribute("aria-pressed") === "true" ? "" : "1" }) }, "All concepts");
  let found = null; // the clusters, once they are there
  let placeOf = new Map();

  const find = search({
    label: "Find a concept", placeholder: "a name …",
    find: (text, signal) => get("concepts", { search: text, limit: 12 }, signal),
    text: (one) => one.name, describe: (one) => [one.kind, count(one.memory_count ?? 0, "memory", "memories")].filter(Boolean).join(" · "),
    chosen: (one) => open({ concept: one.id }),
  });

  put(
    place,
    h("h1", { class: "hidden-text" }, "Graph"),
    h(
      "div",
      { class: "tools card", role: "region", "aria-label": "What is drawn" },
      find, field("Colour by", colourBy), legend,
      h("details", { open: innerWidth > 900 }, h("summary", {}, "Edge types"), relations),
      h("details", { open: innerWidth > 900 }, h("summary", {}, "In the picture"), list),
    ),
    h(
      "div",
      { class: "drawing" },
      h(
        "div",
        { class: "row apart bar" },
        status,
        h(
          "div",
          { class: "row" },
          h("button", { class: "small", onclick: () => open({}) }, "Whole graph"),
          alone,
          h("button", { class: "small", "aria-label": "Zoom in", onclick: () => canvas.zoom(1 / 1.5) }, "+"),
          h("button", { class: "small", "aria-label": "Zoom out", onclick: () => canvas.zoom(1.5) }, "−"),
          h("button", { class: "small", onclick: () => canvas.fit() }, "Fit"),
        ),
      ),
      stage,
    ),
    panel,
  );
  const canvas = drawnOrNot(() => graphCanvas(stage, { clicked: select }), () => noCanvas(stage));
  // For the benchmark, which asks how the drawing does.
  stage.canvas = canvas;

  // How some nodes are coloured, which the legend says.
  function colouring(seen) {
    const by = colourBy.value;
    if (by === "time") {
      const times = seen.map((node) => Date.parse(node.last ?? "")).filter(Number.isFinite);
      const [first, last] = [Math.min(...times), Math.max(...times)];
      put(legend, times.length ? [[0, first], [0.5, (first + last) / 2], [1, last]].map(([share, at]) => entry(along(share), new Date(at).toISOString().slice(0, 10))) : entry(NONE, "no dates"));
      return (node) => {
        const at = Date.parse(node.last ?? "");
        return Number.isFinite(at) ? along(last > first ? (at - first) / (last - first) : 1) : NONE;
      };
    }
    const key = by === "kind" ? (node) => node.kind ?? "" : (node) => placeOf.get(node.id) ?? "";
    const counts = new Map();
    for (const node of seen) counts.set(key(node), (counts.get(key(node)) ?? 0) + 1);
    const ordered = [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
    const of = colours(ordered);
    const named = new Map((found ?? []).map((one) => [one.id, one.name]));
    const word = (name) => (by === "kind" ? name || "no kind" : named.get(name) ?? (found ? "alone" : "clusters are being found …"));
    const label = (name) => (by === "cluster" && named.has(name) ? h("button", { class: "quiet small", onclick: () => open({ cluster: name }) }, `${word(name)} (${counts.get(name)})`) : `${word(name)} (${counts.get(name)})`);
    put(legend, ordered.slice(0, 10).map((name) => entry(of.get(name), label(name))), ordered.length > 10 && h("li", { class: "small muted" }, `and ${ordered.length - 10} more`));
    return (node) => of.get(key(node)) ?? NONE;
  }

  const paint = () => canvas.change({ colourOf: colouring(canvas.graph.mapNodes((_key, attributes) => attributes)) });

  function draw(data) {
    canvas.show(data, { hidden, colourOf: colouring(data.nodes) });
    listed();
  }

  function listed() {
    const nodes = canvas.graph.mapNodes((key, attributes) => [key, attributes]).sort((a, b) => (b[1].memories ?? 0) - (a[1].memories ?? 0));
    put(list, nodes.slice(0, LISTED).map(([key, node]) => h("li", {}, h("button", { class: "quiet small", onclick: () => select(key, node) }, node.name))),
      nodes.length > LISTED && h("li", { class: "small muted" }, `and ${nodes.length - LISTED} more`));
    const counts = new Map();
    canvas.graph.forEachEdge((_edge, { relation }) => counts.set(relation, (counts.get(relation) ?? 0) + 1));
    const ordered = [...counts].sort((a, b) => b[1] - a[1]);
    put(relations, h("legend", { class: "hidden-text" }, "Edge types"), ordered.slice(0, 40).map(([relation, number]) =>
      h("label", { class: "check small" }, h("input", { type: "checkbox", checked: !hidden.has(relation), onchange: (event) => {
        event.target.checked ? hidden.delete(relation) : hidden.add(relation);
        context.keep({ without: [...hidden] });
        canvas.change({ hidden });
        said();
      } }), `${relation} (${number})`)), !ordered.length && h("p", { class: "small muted" }, "no edges"));
    said();
  }

  let leftOut = 0;
  let unjoined = 0;
  let lighter = 0;
  function said() {
    const edges = canvas.graph.filterEdges((_edge, { relation }) => !hidden.has(relation)).length;
    const text = `${count(canvas.graph.order, "concept")}, ${count(edges, "edge")}${unjoined ? `; ${unjoined.toLocaleString("en")} more without an edge` : ""}${leftOut ? `; ${count(leftOut, "concept")} more` : ""}${lighter ? `; ${count(lighter, "lighter edge")} not drawn` : ""}`;
    status.textContent = canvas.graph.order ? text : "No concepts yet: hopgate build reads them out of the memories.";
    stage.dataset.nodes = canvas.graph.order;
    stage.dataset.edges = edges;
  }

  async function select(key, node) {
    if (key === null) {
      canvas.change({ selected: null });
      return;
    }
    canvas.change({ selected: key });
    context.keep({ selected: node.id });
    conceptPanel(panel, node.id, { centre: () => canvas.centre(key), go: (id) => open({ concept: id }) });
    await expand(key, node);
  }

  async function expand(key, node) {
    if (canvas.graph.getNodeAttribute(key, "expanded")) return;
    try {
      const near = await get("graph/view", { concept: node.id, limit: 60 });
      if (!canvas.graph.hasNode(key)) return;
      const before = canvas.graph.order;
      canvas.graph.setNodeAttribute(key, "expanded", true);
      const more = view(near);
      if (more.nodes.some((one) => !canvas.graph.hasNode(one.key))) {
        canvas.add(more, key);
        listed();
        paint();
      }
      canvas.change({ selected: key });
      announce(`${count(canvas.graph.order - before, "neighbour")} joined`);
    } catch (error) {
      put(panel, failure(error));
    }
  }

  async function open(where, { keep = true } = {}) {
    if (keep) context.keep({ concept: "", cluster: "", depth: "", selected: "", all: "", ...where }, { push: true });
    await load(new URLSearchParams(location.search));
  }

  async function load(parameters, first) {
    stage.setAttribute("aria-busy", "true");
    leftOut = lighter = unjoined = 0;
    alone.setAttribute("aria-pressed", String(parameters.get("all") === "1"));
    try {
      if (parameters.get("concept")) {
        const near = await (first ?? around(parameters));
        [leftOut, lighter] = [near.left_out, near.edges_left_out];
        draw(view(near));
        const key = `c${parameters.get("concept")}`;
        if (canvas.graph.order < WHOLE && canvas.graph.hasNode(key)) {
          canvas.change({ selected: key });
          conceptPanel(panel, parameters.get("concept"), { centre: () => canvas.centre(key), go: (id) => open({ concept: id }) });
        }
      } else if (parameters.get("cluster")) {
        const inside = await get("graph/view", { cluster: parameters.get("cluster"), limit: 1500 });
        [leftOut, lighter] = [inside.left_out, inside.edges_left_out];
        draw(view(inside));
      } else {
        const all = parameters.get("all") === "1";
        const largest = await get("graph/view", { limit: all ? ALONE_TOO : WHOLE });
        [leftOut, lighter] = [largest.left_out, largest.edges_left_out];
        draw(all ? view(largest) : joined(view(largest)));
      }
    } catch (error) {
      put(panel, failure(error));
    } finally {
      stage.removeAttribute("aria-busy");
    }
  }

  // What has an edge; where hardly anything has, all of it.
  function joined(data) {
    const edges = data.edges.filter(({ relation }) => relation !== TOGETHER);
    const ends = new Set(edges.flatMap(({ source, target }) => [source, target]));
    if (ends.size < 3) return data;
    unjoined = data.nodes.length - ends.size;
    return { nodes: data.nodes.filter(({ key }) => ends.has(key)), edges };
  }

  // The clusters are found once; a picture that does not need them does not wait for them.
  let asked = null;
  function known() {
    asked ??= get("graph/clusters").then((answer) => {
      found = answer;
      placeOf = new Map(answer.flatMap((one) => one.concepts.map((id) => [id, one.id])));
    }, () => {});
    return asked;
  }

  stage.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (move) canvas.move(...move);
    else if (event.key === "+" || event.key === "=") canvas.zoom(1 / 1.5);
    else if (event.key === "-") canvas.zoom(1.5);
    else if (event.key === "0") canvas.fit();
    else return;
    event.preventDefault();
  });
  colourBy.addEventListener("change", () => {
    context.keep({ colour: colourBy.value });
    paint();
    if (colourBy.value === "cluster") known().then(paint);
  });

  try {
    await load(context.parameters, context.first);
    if (colourBy.value === "cluster") known().then(paint);
  } catch (error) {
    put(panel, failure(error));
  }
  return () => canvas.end();
}

function drawnOrNot(drawn, not) {
  try {
    return drawn();
  } catch (error) {
    console.info("The graph is not drawn:", error.message);
    return not();
  }
}

const entry = (colour, text) => h("li", { class: "small" }, h("i", { class: "dot", style: { background: colour } }), " ", text);
