// The drawing: a graph in memory, and WebGL for it.
export { MultiDirectedGraph } from "graphology";
export { default as Sigma } from "sigma";
export { EdgeLineProgram, NodePointProgram } from "sigma/rendering";
