// A preview before a change: what it will do, in a dialog that is answered or left.

import { h } from "../dom.js";

export function confirmed({ title, body, action, danger = false }) {
  return new Promise((resolve) => {
    const heading = h("h2", { id: "confirm-title" }, title);
    const form = h(
      "form",
      { method: "dialog" },
      heading,
      body,
      h(
        "div",
        { class: "row" },
        h("button", { value: "no" }, "Leave it"),
        h("button", { value: "yes", class: danger ? "danger" : "primary" }, action),
      ),
    );
    const dialog = h("dialog", { "aria-labelledby": "confirm-title" }, form);
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes");
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
