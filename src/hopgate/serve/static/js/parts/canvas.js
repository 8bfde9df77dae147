// The drawing of a graph: sigma.js on a canvas, with what is selected, filtered and lit.

import { MultiDirectedGraph, Sigma } from "/vendor/graph.js";
import { colour } from "../dom.js";
import { betterPlaces, firstPlaces } from "./layout.js";

const MANY = 600;
const MANY_EDGES = 2500;

// As large as many memories talk about it; smaller in a crowd, and on a phone.
const size = (memories, many, narrow) => ((many ? 1.6 : 3) + Math.min(14, Math.sqrt(memories || 0) * (many ? 0.7 : 1.3))) * (narrow ? 0.6 : 1);

export function graphCanvas(container, { clicked, hovered }) {
  let graph = new MultiDirectedGraph();
  const state = { hidden: new Set(), selected: null, lit: null, colourOf: () => "#888", near: new Set() };
  let theme = {};
  const readTheme = () => {
    theme = { edge: colour("edge"), faded: colour("faded"), text: colour("text"), lit: colour("lit"), ground: colour("surface"), accent: colour("accent"), muted: colour("muted") };
  };
  readTheme();

  // What is not selected, near it or on the walk steps back.
  const stepped = (node) => state.lit && (state.lit.get(node) ?? Infinity) > state.lit.step;
  const back = (node) => (state.lit ? stepped(node) : state.selected && node !== state.selected && !state.near.has(node));

  const nodeReducer = (node, data) => {
    const shown = { x: data.x, y: data.y, size: data.size, label: data.label, color: state.colourOf(data), zIndex: 1 };
    if (back(node)) return { ...shown, color: theme.faded, label: null, zIndex: 0 };
    if (node === state.selected) return { ...shown, highlighted: true, zIndex: 3, forceLabel: true };
    if (state.lit?.has(node)) {
      const now = state.lit.get(node) === state.lit.step;
      return { ...shown, color: now ? theme.lit : shown.color, forceLabel: true, size: shown.size + (now ? 3 : 1), zIndex: 2 };
    }
    return shown;
  };
  const edgeReducer = (edge, data) => {
    if (state.hidden.has(data.relation)) return { hidden: true };
    const [from, to] = graph.extremities(edge);
    const shown = { size: data.size, color: theme.edge, label: data.relation, zIndex: 0 };
    if (back(from) || back(to)) return { ...shown, color: theme.faded };
    if (state.lit) return { ...shown, color: theme.lit, size: 1.6, zIndex: 1 };
    if (state.selected && (from === state.selected || to === state.selected)) return { ...shown, color: theme.accent, size: 1.6, zIndex: 1, forceLabel: true };
    return shown;
  };

  const sigma = new Sigma(graph, container, {
    nodeReducer, edgeReducer, zIndex: true, labelColor: { attribute: "labelColour", color: theme.text }, labelSize: 12,
    labelFont: "system-ui, sans-serif", labelRenderedSizeThreshold: 5, labelDensity: 0.8, labelGridCellSize: 90,
    edgeLabelSize: 11, edgeLabelColor: { color: theme.muted }, edgeLabelFont: "system-ui, sans-serif",
    defaultEdgeType: "arrow", minCameraRatio: 0.02, maxCameraRatio: 6, allowInvalidContainer: true, stagePadding: 40,
    defaultDrawNodeHover: (context, data, settings) => hoverLabel(context, data, settings, theme),
  });
  const layout = betterPlaces(() => sigma.scheduleRefresh());

  let dragged = null;
  let moved = false;
  sigma.on("downNode", ({ node }) => {
    dragged = node;
    moved = false;
    layout.stop();
    if (!sigma.getCustomBBox()) sigma.setCustomBBox(sigma.getBBox());
  });
  sigma.on("moveBody", ({ event }) => {
    if (!dragged) return;
    moved = true;
    // Only this node and its edges, and past the graph's events: all of thousands would be placed anew otherwise.
    Object.assign(graph.getNodeAttributes(dragged), sigma.viewportToGraph(event));
    sigma.refresh({ partialGraph: { nodes: [dragged], edges: graph.edges(dragged) }, skipIndexation: true, schedule: true });
    event.preventSigmaDefault();
    event.original.preventDefault();
    event.original.stopPropagation();
  });
  const dropped = () => {
    if (dragged && moved) sigma.scheduleRefresh();
    dragged = null;
  };
  sigma.on("upNode", dropped);
  sigma.on("upStage", dropped);
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
    sigma.setSetting("labelColor", { color: theme.text });
    sigma.setSetting("edgeLabelColor", { color: theme.muted });
    sigma.scheduleRefresh();
  };
  document.addEventListener("hopgate:theme", onTheme);

  const edgeKey = (edge) => `${edge.source}>${edge.relation}>${edge.target}`;

  // Nodes and edges as sigma takes them, into a graph that nobody draws yet, or into the one that is drawn.
  const put = (into, { nodes, edges }) => {
    const many = into.order + nodes.length > MANY;
    const fresh = nodes.filter((node) => !into.hasNode(node.key)).map((node) => ({ ...node, label: node.name, size: size(node.memories, many, container.clientWidth < 480) }));
    return {
      fresh,
      write() {
        for (const node of fresh) into.addNode(node.key, node);
        for (const edge of edges) {
          const key = edgeKey(edge);
          if (into.hasNode(edge.source) && into.hasNode(edge.target) && !into.hasEdge(key)) {
            into.addEdgeWithKey(key, edge.source, edge.target, { relation: edge.relation, weight: edge.weight, size: many ? 0.5 : 1 });
          }
        }
      },
    };
  };

  const settings = (nodes, edges) => {
    const crowded = edges > MANY_EDGES;
    sigma.setSettings({
      defaultEdgeType: crowded ? "line" : "arrow", hideEdgesOnMove: crowded, hideLabelsOnMove: crowded,
      labelRenderedSizeThreshold: nodes > 60 ? 6 : 1, renderEdgeLabels: edges < 80,
    });
  };

  return {
    get graph() {
      return graph;
    },
    sigma,
    // More around a node that is there.
    add(data, beside) {
      const origin = graph.getNodeAttributes(beside);
      const more = put(graph, data);
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
      Object.assign(state, { selected: null, near: new Set(), lit: null }, changes);
      // Settings first, while there is nothing to draw with them; then all of it at once.
      sigma.setGraph(new MultiDirectedGraph());
      settings(data.nodes.length, data.edges.length);
      graph = new MultiDirectedGraph();
      const all = put(graph, data);
      firstPlaces(all.fresh);
      all.write();
      const drawn = graph;
      // How long it took until something was to be seen: benchmarks/explorer.py reads it.
      sigma.once("afterRender", () => requestAnimationFrame(() => {
        performance.mark("hopgate:drawn");
        container.dataset.drawn = "1";
        if (graph === drawn && drawn.order > MANY) layout.start(drawn);
      }));
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
      sigma.scheduleRefresh();
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

// The label of a node under the pointer, or selected, on a ground of the theme's own.
function hoverLabel(context, data, settings, theme) {
  context.font = `600 ${settings.labelSize}px ${settings.labelFont}`;
  const text = data.label ?? "";
  const width = context.measureText(text).width;
  context.beginPath();
  context.arc(data.x, data.y, data.size + 3, 0, Math.PI * 2);
  context.strokeStyle = theme.accent;
  context.lineWidth = 2;
  context.stroke();
  context.fillStyle = data.color;
  context.beginPath();
  context.arc(data.x, data.y, data.size, 0, Math.PI * 2);
  context.fill();
  if (!text) return;
  context.fillStyle = theme.ground;
  context.fillRect(data.x + data.size + 5, data.y - settings.labelSize / 2 - 5, width + 8, settings.labelSize + 10);
  context.fillStyle = theme.text;
  context.fillText(text, data.x + data.size + 9, data.y + settings.labelSize / 3);
}
