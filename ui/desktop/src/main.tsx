import { lazy, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { followLinks } from "./app/links";
import { Boundary } from "./kit/Boundary";
import { past } from "./transport/address";
import { type DesktopState, desk } from "./transport/desk";
import "#base/styles/fonts.css";
import "#base/styles/tokens.css";
import "./styles/tokens.css";
import "#base/styles/base.css";
import "./styles/parts.css";

const Past = lazy(() => import("./past/Past"));

/** Asked for before anything is drawn, so that nothing is drawn without windows. */
function first(): Promise<DesktopState> {
  const state = desk.state();
  state.catch(() => undefined);
  return state;
}

const page = past ? (
  <Suspense>
    <Past />
  </Suspense>
) : (
  <App first={first()} />
);

followLinks();

const root = document.getElementById("root");
if (root) createRoot(root).render(<Boundary>{page}</Boundary>);
