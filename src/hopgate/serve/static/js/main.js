// Which page an address shows. Every page's state is in its address: it can be kept, and back and forward work.

import { around, get } from "./api.js";
import { announce, h, put } from "./dom.js";
import { themeSwitch } from "./theme.js";

// A title, the page, and what it will ask for first: that is on its way while the page itself is loaded.
const PAGES = {
  recall: ["Recall", () => import("./pages/recall.js")],
  graph: [
    "Graph",
    () => Promise.all([import("./pages/graph.js"), import("./parts/canvas.js")]).then(([page]) => page),
    (parameters) => (parameters.get("concept") ? around(parameters) : null),
  ],
  time: ["Time", () => import("./pages/time.js")],
};

// What the server was started for: pages say what it does not do before somebody tries.
const about = get("health").catch(() => ({ scopes: null, read_only: false }));

let leave = null;
let visit = 0;

const pageOf = (path) => {
  const name = path.split("/")[1] || "recall";
  return name in PAGES ? name : null;
};

// What a page is given: its parameters, and a way to put new ones into the address.
function context() {
  return {
    parameters: new URLSearchParams(location.search),
    about,
    keep(changes, { push = false } = {}) {
      const query = new URLSearchParams(location.search);
      for (const [name, value] of Object.entries(changes)) {
        query.delete(name);
        for (const one of Array.isArray(value) ? value : [value]) {
          if (one !== null && one !== undefined && one !== "" && one !== false) query.append(name, one);
        }
      }
      const address = location.pathname + (query.size ? `?${query}` : "");
      if (address === location.pathname + location.search) return;
      history[push ? "pushState" : "replaceState"](null, "", address);
    },
    go,
  };
}

async function show({ focus = true } = {}) {
  const mine = ++visit;
  const main = document.getElementById("main");
  const name = pageOf(location.pathname);
  leave?.();
  leave = null;
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.getAttribute("href") === `/${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (name === null) {
    put(main, h("h1", {}, "There is no such page"), h("p", {}, h("a", { href: "/recall" }, "To recall")));
    return;
  }
  const [title, load, ask] = PAGES[name];
  const given = context();
  given.first = ask?.(given.parameters);
  // Whoever waits for it says what went wrong.
  given.first?.catch(() => {});
  document.title = `${title} · hopgate`;
  main.dataset.page = name;
  main.setAttribute("aria-busy", "true");
  const page = await load();
  if (mine !== visit) return;
  const place = h("div", { class: `page ${name}` });
  put(main, place);
  if (focus) main.focus({ preventScroll: true });
  try {
    const left = await page.show(place, given);
    if (mine === visit) leave = left ?? null;
    else left?.();
  } finally {
    if (mine === visit) main.removeAttribute("aria-busy");
  }
  announce(title);
}

export function go(address) {
  history.pushState(null, "", address);
  scrollTo(0, 0);
  return show();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || link.target || pageOf(to.pathname) === null || to.pathname.startsWith("/api/")) return;
  if (to.hash && to.pathname === location.pathname) return;
  event.preventDefault();
  go(to.pathname + to.search);
});
addEventListener("popstate", () => show());
about.then(({ scopes, read_only: readOnly }) => {
  const words = [scopes && `only ${scopes.join(", ")}`, readOnly && "read-only"].filter(Boolean);
  if (words.length) document.querySelector(".brand").after(h("span", { class: "tag", title: "What this server was started for" }, words.join(" · ")));
});
themeSwitch(document.getElementById("theme"));
show({ focus: false });
