// Where nodes lie: at once by community, then better and better by a worker.

const PER_NODE = 10;
const PER_EDGE = 3;
const TURN = Math.PI * (3 - Math.sqrt(5));

// Points on a sunflower: the n-th one is as far from the others as can be.
const sunflower = (n, spread) => {
  const radius = spread * Math.sqrt(n + 0.5);
  return [radius * Math.cos(n * TURN), radius * Math.sin(n * TURN)];
};

// First places for nodes that have none: communities on a sunflower, largest first, and their members on one each.
export function firstPlaces(graph) {
  const groups = new Map();
  graph.forEachNode((node, { community, memories, x }) => {
    if (x !== undefined && x !== null) return;
    const key = community ?? "";
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push([node, memories ?? 0]);
  });
  const ordered = [...groups.values()].sort((a, b) => b.length - a.length);
  let placed = 0;
  for (const members of ordered) {
    members.sort((a, b) => b[1] - a[1]);
    const [cx, cy] = ordered.length > 1 ? sunflower(placed + members.length / 2, 6) : [0, 0];
    members.forEach(([node], number) => {
      const [x, y] = sunflower(number, 4);
      graph.mergeNodeAttributes(node, { x: cx + x, y: cy + y });
    });
    placed += members.length;
  }
}

export function betterPlaces(graph, moved) {
  const worker = new Worker("/js/layout-worker.js", { type: "module" });
  let keys = [];
  let run = 0;
  let running = false;
  let waiting = null;

  worker.onmessage = ({ data }) => {
    if (data.run !== run || !running) return;
    if (data.last) running = false;
    waiting = data.places;
    requestAnimationFrame(() => {
      if (!waiting) return;
      const places = waiting;
      waiting = null;
      const at = new Map(keys.map((key, number) => [key, number]));
      graph.updateEachNodeAttributes(
        (node, attributes) => {
          const number = at.get(node);
          if (number === undefined) return attributes;
          attributes.x = places[number * 2];
          attributes.y = places[number * 2 + 1];
          return attributes;
        },
        { attributes: ["x", "y"] },
      );
      moved(!running);
    });
  };

  return {
    get running() {
      return running;
    },
    start() {
      keys = graph.nodes();
      const number = new Map(keys.map((key, at) => [key, at]));
      const nodes = new Float32Array(keys.length * PER_NODE);
      const edges = new Float32Array(graph.size * PER_EDGE);
      keys.forEach((key, at) => {
        const { x, y } = graph.getNodeAttributes(key);
        nodes.set([x, y, 0, 0, 0, 0, 1, 1, 1, 0], at * PER_NODE);
      });
      let at = 0;
      graph.forEachEdge((_edge, { weight }, source, target) => {
        const [from, to] = [number.get(source) * PER_NODE, number.get(target) * PER_NODE];
        const pull = Math.min(4, weight || 1);
        edges.set([from, to, pull], at);
        nodes[from + 6] += pull;
        nodes[to + 6] += pull;
        at += PER_EDGE;
      });
      const order = keys.length;
      run += 1;
      running = true;
      worker.postMessage({
        nodes, edges, run,
        iterations: order > 2000 ? 120 : order > 300 ? 250 : 400,
        every: order > 1000 ? 400 : 60,
        settings: {
          linLogMode: false, outboundAttractionDistribution: false, adjustSizes: false, edgeWeightInfluence: 1,
          strongGravityMode: true, gravity: 0.05, scalingRatio: 10, slowDown: 1 + Math.log(order),
          barnesHutOptimize: order > 600, barnesHutTheta: 0.8,
        },
      });
    },
    stop() {
      run += 1;
      running = false;
      waiting = null;
      worker.postMessage({ stop: true });
    },
    end() {
      worker.terminate();
    },
  };
}
