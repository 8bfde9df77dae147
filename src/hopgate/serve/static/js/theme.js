// Light, dark, or as the system says: a switch of three, kept in this browser.

const ORDER = ["auto", "light", "dark"];
const WORDS = { auto: "as the system says", light: "light", dark: "dark" };

function current() {
  return document.documentElement.dataset.theme ?? "auto";
}

function show(button) {
  const theme = current();
  button.setAttribute("aria-label", `Colours: ${WORDS[theme]}`);
  button.querySelector(".label").textContent = theme[0].toUpperCase() + theme.slice(1);
}

function choose(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === "auto") localStorage.removeItem("hopgate-theme");
    else localStorage.setItem("hopgate-theme", theme);
  } catch {
    // It holds for this page then.
  }
  document.dispatchEvent(new Event("hopgate:theme"));
}

export function themeSwitch(button) {
  show(button);
  button.addEventListener("click", () => {
    choose(ORDER[(ORDER.indexOf(current()) + 1) % ORDER.length]);
    show(button);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    document.dispatchEvent(new Event("hopgate:theme")),
  );
}
