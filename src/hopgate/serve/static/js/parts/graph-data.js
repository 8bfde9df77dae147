// Nodes and edges as they come from the server, into a graph as sigma takes it.

export const MANY = 600;

// As large as many memories talk about it; smaller in a crowd, and on a phone.
const size = (memories, many, narrow) => ((many ? 1.6 : 3) + Math.min(14, Math.sqrt(memories || 0) * (many ? 0.7 : 1.3))) * (narrow ? 0.6 : 1);

// What is new of some data: its nodes, which may be given places, and then a way to write it all.
export function addition(graph, { nodes, edges }, narrow) {
  const many = graph.order + nodes.length > MANY;
  const fresh = nodes.filter((node) => !graph.hasNode(node.key)).map((node) => ({ ...node, label: node.name, size: size(node.memories, many, narrow) }));
  return {
    fresh,
    write() {
      for (const node of fresh) graph.addNode(node.key, node);
      for (const { source, target, relation, weight } of edges) {
        const key = `${source}>${relation}>${target}`;
        if (graph.hasNode(source) && graph.hasNode(target) && !graph.hasEdge(key)) {
          graph.addEdgeWithKey(key, source, target, { relation, weight, size: many ? 0.5 : 1 });
        }
      }
    },
  };
}
