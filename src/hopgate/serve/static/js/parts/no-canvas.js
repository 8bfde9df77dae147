// In the place of the drawing where the browser cannot draw: the lists beside it hold the same graph.

import { MultiDirectedGraph } from "/vendor/graph.js";
import { h, put } from "../dom.js";
import { addition } from "./graph-data.js";

export function noCanvas(container) {
  let graph = new MultiDirectedGraph();
  put(container, h("p", { class: "message" }, "This browser offers no WebGL, which the picture is drawn with: allow hardware acceleration in its settings, or take another browser. “In the picture” lists the same concepts, and all else works."));
  const nothing = () => {};
  return {
    get graph() {
      return graph;
    },
    add: (data) => addition(graph, data).write(),
    show(data) {
      graph = new MultiDirectedGraph();
      addition(graph, data).write();
    },
    change: nothing, move: nothing, zoom: nothing, fit: nothing, centre: nothing, settle: nothing, settled: () => true, end: nothing,
  };
}
