import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { Boundary } from "./app/Boundary";
import type { Arrival } from "./transport/arrival";

/** Draws the whole page, from the answers of the requests that it began with. */
export async function draw(arrival: Arrival): Promise<void> {
  if (document.readyState === "loading") await new Promise((on) => addEventListener("DOMContentLoaded", on));
  const root = document.getElementById("root");
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <Boundary>
        <App arrival={arrival} />
      </Boundary>
    </StrictMode>,
  );
}
