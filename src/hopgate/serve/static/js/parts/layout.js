// Where nodes lie: at once by cluster, then better and better by a worker.

const PER_NODE = 10;
const PER_EDGE = 3;
const TURN = Math.PI * (3 - Math.sqrt(5));

// Points on a sunflower: the n-th one is as far from the others as can be.
const sunflower = (n, spread) => {
  const radius = spread * Math.sqrt(n + 0.5);
  return [radius * Math.cos(n * TURN), radius * Math.sin(n * TURN)];
};

// First places for nodes that have none: clusters on a sunflower, largest first, and their members on one each.
export function firstPlaces(nodes) {
  const groups = new Map();
  for (const node of nodes) {
    if (node.x !== undefined) continue;
    const key = node.cluster ?? "";
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(node);
  }
  const ordered = [...groups.values()].sort((a, b) => b.length - a.length);
  let placed = 0;
  for (const members of ordered) {
    members.sort((a, b) => (b.memories ?? 0) - (a.memories ?? 0));
    const [cx, cy] = ordered.length > 1 ? sunflower(placed + members.length / 2, 6) : [0, 0];
    members.forEach((node, number) => {
      const [x, y] = sunflower(number, 4);
      Object.assign(node, { x: cx + x, y: cy + y });
    });
    placed += members.length;
  }
}

// `moved` is told of new places, unless `busy`: somebody is moving the picture, and they come when it rests.
export function betterPlaces(moved, busy) {
  const worker = new Worker("/js/layout-worker.js", { type: "module" });
  let graph = null;
  let keys = [];
  let run = 0;
  let running = false;
  let waiting = null;

  const place = () => {
    if (!waiting) return;
    if (busy()) {
      setTimeout(place, 200);
      return;
    }
    const places = waiting;
    waiting = null;
    // Written past the graph's own events, which would redraw once for each of thousands.
    keys.forEach((key, number) => {
      if (!graph.hasNode(key)) return;
      const node = graph.getNodeAttributes(key);
      node.x = places[number * 2];
      node.y = places[number * 2 + 1];
    });
    moved();
  };
  worker.onmessage = ({ data }) => {
    if (data.run !== run || !running) return;
    if (data.last) running = false;
    waiting = data.places;
    requestAnimationFrame(place);
  };

  return {
    get running() {
      return running;
    },
    start(drawn) {
      graph = drawn;
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
        iterations: order > 2000 ? 60 : order > 300 ? 250 : 400,
        // A large picture is redrawn seldom: each time costs what a drag would notice.
        every: order > 1000 ? 1500 : 60,
        settings: {
          linLogMode: false, outboundAttractionDistribution: false, adjustSizes: false, edgeWeightInfluence: 1,
          strongGravityMode: true, gravity: 0.05, scalingRatio: order > 300 ? 10 : 30, slowDown: 1 + Math.log(order),
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
