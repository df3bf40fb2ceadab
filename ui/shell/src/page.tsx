import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { Boundary } from "./app/Boundary";
import type { Arrival } from "./transport/arrival";

/** Draws the whole page, from the answers of the requests that it began with. */
export function draw(arrival: Arrival): void {
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
