// As little as a page with React can be that takes keys: what the desktop is measured beside.
import { createElement } from "react";
import { createRoot } from "react-dom/client";

createRoot(document.querySelector("#root")).render(
  createElement("label", null, "Ask for anything ", createElement("input", { id: "prompt", autoFocus: true })),
);
