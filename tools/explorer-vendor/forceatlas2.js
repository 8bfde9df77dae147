// The layout's inner loop alone: the explorer runs it in a worker of its own, which needs no blob.
export { default as iterate } from "graphology-layout-forceatlas2/iterate.js";
