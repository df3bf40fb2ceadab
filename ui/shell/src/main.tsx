import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { Boundary } from "./app/Boundary";
import "#base/styles/fonts.css";
import "#base/styles/tokens.css";
import "./styles/tokens.css";
import "#base/styles/base.css";
import "./styles/contrast.css";

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Boundary>
        <App />
      </Boundary>
    </StrictMode>,
  );
}
