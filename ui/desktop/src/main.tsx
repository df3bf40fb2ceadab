import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { Boundary } from "./app/Boundary";
import { desk } from "./transport/desk";
import "./styles/fonts.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";

// Asked for before anything is drawn, so that nothing is drawn without windows.
const first = desk.state();
first.catch(() => undefined);

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <Boundary>
      <App first={first} />
    </Boundary>,
  );
}
