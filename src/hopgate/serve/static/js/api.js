// The HTTP API. An error is the sentence that the command line would say.

export class ApiError extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

async function asked(path, options) {
  let response;
  try {
    response = await fetch(`/api/v1/${path}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("the server does not answer: is hopgate serve still running?", 0);
  }
  if (response.status === 204) return null;
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(body?.detail || body?.title || `the server answered ${response.status}`, response.status);
  return body;
}

function queried(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") query.append(name, one);
    }
  }
  return query.size ? `${path}?${query}` : path;
}

export const get = (path, parameters, signal) => asked(queried(path, parameters), { signal });

export const post = (path, body = {}, signal) =>
  asked(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });

// The part of the graph around a concept, as a page's address asks for it.
export const around = (parameters) =>
  get("graph/view", { concept: parameters.get("concept"), depth: parameters.get("depth") ?? 2, limit: parameters.get("limit") ?? 150 });
