// The drawing of a graph: sigma.js on a canvas, with what is selected and filtered.

import { EdgeLineProgram, MultiDirectedGraph, NodePointProgram } from "/vendor/graph.js";
import { colour } from "../dom.js";
import { Drawing } from "./drawing.js";
import { MANY, addition } from "./graph-data.js";
import { clearLabels, edgeLabel, hoverLabel, nodeLabel } from "./labels.js";
import { betterPlaces, firstPlaces } from "./layout.js";

// What needs no word at its line: every second one would say it.
const PLAIN = new Set(["mentions", "mentioned together", "joined", "next to"]);
const MANY_EDGES = 2500;
// Every label of so small a picture is tried, and every node kept free of labels.
const ALL_LABELS = 200;

export function graphCanvas(container, { clicked, hovered }) {
  let graph = new MultiDirectedGraph();
  const state = { hidden: new Set(), selected: null, colourOf: () => "#888", near: new Set() };
  let theme = {};
  const readTheme = () => {
    theme = { edge: colour("edge"), faded: colour("faded"), text: colour("text"), ground: colour("surface"), accent: colour("accent"), muted: colour("muted") };
  };
  readTheme();

  // What is not selected nor near it steps back.
  const back = (node) => state.selected && node !== state.selected && !state.near.has(node);

  const nodeReducer = (node, data) => {
    const shown = { x: data.x, y: data.y, size: data.size, label: data.label, color: state.colourOf(data), zIndex: 1 };
    if (back(node)) return { ...shown, color: theme.faded, label: null, zIndex: 0 };
    if (node === state.selected) return { ...shown, highlighted: true, zIndex: 3, forceLabel: true };
    return shown;
  };
  const edgeReducer = (edge, data) => {
    if (state.hidden.has(data.relation)) return { hidden: true };
    const [from, to] = graph.extremities(edge);
    const shown = { size: data.size, color: theme.edge, label: PLAIN.has(data.relation) ? "" : data.relation, zIndex: 0 };
    if (back(from) || back(to)) return { ...shown, color: theme.faded };
    if (state.selected && (from === state.selected || to === state.selected)) return { ...shown, color: theme.accent, size: 1.6, zIndex: 1, forceLabel: true };
    return shown;
  };

  const sigma = new Drawing(graph, container, {
    nodeReducer, edgeReducer, zIndex: true, nodeProgramClasses: { point: NodePointProgram }, edgeProgramClasses: { thin: EdgeLineProgram }, labelColor: { attribute: "labelColour", color: theme.text }, labelSize: 12,
    labelFont: "system-ui, sans-serif", labelRenderedSizeThreshold: 5, labelDensity: 0.8, labelGridCellSize: 90,
    edgeLabelSize: 11, edgeLabelColor: { color: theme.muted }, edgeLabelFont: "system-ui, sans-serif",
    defaultEdgeType: "arrow", minCameraRatio: 0.02, maxCameraRatio: 6, allowInvalidContainer: true, stagePadding: 40,
    defaultDrawNodeLabel: (context, data, settings) => nodeLabel(context, data, settings, theme),
    defaultDrawEdgeLabel: (context, edge, source, target, settings) => edgeLabel(context, edge, source, target, settings, theme),
    defaultDrawNodeHover: (context, data, settings) => hoverLabel(context, data, settings, theme),
  });
  sigma.on("beforeRender", () => clearLabels(container, () => (graph.order <= ALL_LABELS ? graph.mapNodes(placed) : [])));
  const placed = (node) => {
    const data = sigma.getNodeDisplayData(node);
    return { ...sigma.framedGraphToViewport(data), size: sigma.scaleSize(data.size) };
  };
  const layout = betterPlaces(() => sigma.refreshSoon(), () => sigma.underway);

  let held = null;
  let moved = false;
  sigma.on("downNode", ({ node }) => {
    held = node;
    moved = false;
    layout.stop();
    if (!sigma.getCustomBBox()) sigma.setCustomBBox(sigma.getBBox());
  });
  sigma.on("moveBody", ({ event }) => {
    if (!held) return;
    moved = true;
    sigma.dragged = held;
    sigma.edgeColour = theme.accent;
    // Only this node, and past the graph's events: all of thousands would be placed anew otherwise.
    Object.assign(graph.getNodeAttributes(held), sigma.viewportToGraph(event));
    replaced(held, sigma.crowded ? [] : graph.edges(held));
    event.preventSigmaDefault();
    event.original.preventDefault();
    event.original.stopPropagation();
  });
  const replaced = (node, edges) => sigma.refresh({ partialGraph: { nodes: [node], edges }, skipIndexation: true, schedule: true });
  const dropped = () => {
    sigma.dragged = null;
    if (held && moved) replaced(held, graph.edges(held));
    held = null;
  };
  sigma.on("upNode", dropped);
  sigma.on("upStage", dropped);
  // What was left out while it moved is drawn when it rests.
  for (const captor of [sigma.getMouseCaptor(), sigma.getTouchCaptor()]) {
    for (const end of ["mouseup", "touchup"]) captor.on(end, () => sigma.scheduleRender());
  }
  sigma.on("clickNode", ({ node }) => {
    if (!moved) clicked(node, graph.getNodeAttributes(node));
  });
  sigma.on("clickStage", () => {
    if (!moved) clicked(null, null);
    moved = false;
  });
  sigma.on("enterNode", ({ node }) => {
    container.classList.add("over");
    hovered?.(node);
  });
  sigma.on("leaveNode", () => {
    container.classList.remove("over");
    hovered?.(null);
  });

  const onTheme = () => {
    readTheme();
    sigma.setSettings({ labelColor: { color: theme.text }, edgeLabelColor: { color: theme.muted } });
  };
  document.addEventListener("hopgate:theme", onTheme);

  const narrow = () => container.clientWidth < 480;
  const settings = (nodes, edges) => {
    sigma.crowded = edges > MANY_EDGES;
    // Where the processor draws, a corner less for each of thousands counts.
    const plain = sigma.crowded && sigma.software;
    sigma.setSettings({ defaultNodeType: plain ? "point" : "circle", defaultEdgeType: plain ? "thin" : sigma.crowded ? "line" : "arrow", labelRenderedSizeThreshold: nodes <= ALL_LABELS ? 0 : narrow() ? 3.6 : 6, labelDensity: nodes <= ALL_LABELS ? 20 : 0.8, renderEdgeLabels: edges <= ALL_LABELS });
  };

  return {
    get graph() {
      return graph;
    },
    sigma,
    // More around a node that is there.
    add(data, beside) {
      const origin = graph.getNodeAttributes(beside);
      const more = addition(graph, data, narrow());
      more.fresh.forEach((node, number) => {
        const far = 6 + Math.sqrt(number) * 3;
        Object.assign(node, { x: origin.x + far * Math.cos(number * 2.4), y: origin.y + far * Math.sin(number * 2.4) });
      });
      more.write();
      settings(graph.order, graph.size);
      layout.start(graph);
    },
    show(data, changes = {}) {
      layout.stop();
      sigma.setCustomBBox(null);
      Object.assign(state, { selected: null, near: new Set() }, changes);
      // Settings first, while there is nothing to draw with them; then all of it at once.
      sigma.setGraph(new MultiDirectedGraph());
      settings(data.nodes.length, data.edges.length);
      graph = new MultiDirectedGraph();
      const all = addition(graph, data, narrow());
      firstPlaces(all.fresh);
      all.write();
      const drawn = graph;
      // How long it took until something was to be seen, which is when the frame after it begins: benchmarks/explorer.py
      // reads it.
      sigma.once("afterRender", () => requestAnimationFrame(() => requestAnimationFrame(() => {
        performance.mark("hopgate:drawn");
        container.dataset.drawn = "1";
        if (graph === drawn && drawn.order > MANY) layout.start(drawn);
      })));
      sigma.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
      sigma.setGraph(graph);
      // In a large picture the worker begins once there is something to see.
      if (graph.order <= MANY) layout.start(graph);
    },
    change(changes) {
      Object.assign(state, changes);
      if ("selected" in changes) {
        state.near = new Set(changes.selected && graph.hasNode(changes.selected) ? graph.neighbors(changes.selected) : []);
      }
      sigma.refreshSoon();
    },
    // So many tenths of what is to be seen.
    move(x, y) {
      const camera = sigma.getCamera();
      camera.animate({ x: camera.x + 0.1 * camera.ratio * x, y: camera.y + 0.1 * camera.ratio * y }, { duration: 80 });
    },
    zoom(factor) {
      const camera = sigma.getCamera();
      camera.animate({ ratio: camera.getBoundedRatio(camera.ratio * factor) }, { duration: 150 });
    },
    fit() {
      sigma.setCustomBBox(null);
      sigma.refresh();
      sigma.getCamera().animate({ x: 0.5, y: 0.5, ratio: 1 }, { duration: 200 });
    },
    centre(node) {
      const data = sigma.getNodeDisplayData(node);
      if (data) sigma.getCamera().animate({ x: data.x, y: data.y, ratio: Math.min(sigma.getCamera().ratio, 0.6) }, { duration: 250 });
    },
    settle: () => layout.stop(),
    settled: () => !layout.running,
    end() {
      document.removeEventListener("hopgate:theme", onTheme);
      layout.end();
      sigma.kill();
    },
  };
}
