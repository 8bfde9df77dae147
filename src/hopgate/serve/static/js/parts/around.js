// The part of the graph around a concept, as a page's address asks for it.

import { get } from "../api.js";

export const around = (parameters) =>
  get("graph/view", { concept: parameters.get("concept"), depth: parameters.get("depth") ?? 2, limit: parameters.get("limit") ?? 150 });
