// Which page an address shows. Every page's state is in its address: it can be kept, and back and forward work.

import { announce, h, put } from "./dom.js";
import { themeSwitch } from "./theme.js";

const PAGES = {
  recall: ["Recall", () => import("./pages/recall.js")],
  graph: ["Graph", () => import("./pages/graph.js")],
  time: ["Time", () => import("./pages/time.js")],
  mend: ["Mend", () => import("./pages/mend.js")],
  gate: ["Gate", () => import("./pages/gate.js")],
};

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
  const [title, load] = PAGES[name];
  document.title = `${title} · hopgate`;
  main.dataset.page = name;
  main.setAttribute("aria-busy", "true");
  const page = await load();
  if (mine !== visit) return;
  const place = h("div", { class: `page ${name}` });
  put(main, place);
  if (focus) main.focus({ preventScroll: true });
  try {
    const left = await page.show(place, context());
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
themeSwitch(document.getElementById("theme"));
show({ focus: false });
