import { browserLanguage } from "#base/domain/language.ts";
import { openEarly } from "./frame/early";
import { arrive } from "./transport/arrival";
import "#base/styles/fonts.css";
import "#base/styles/tokens.css";
import "./styles/tokens.css";
import "#base/styles/base.css";
import "./styles/contrast.css";

/** How long the page waits for its first requests before it is drawn without their answers. */
const PATIENCE_MS = 100;

// A new link that is pasted over the address of the login page does not load the page anew by itself.
addEventListener("hashchange", () => {
  if (location.pathname === "/login" && location.hash.length > 1) location.reload();
});

const arrival = arrive(openEarly);

// English comes with the page.
const language = browserLanguage();
const texts = language === "en" ? undefined : import("./words/words").then((words) => words.speakIn(language));

// A page that is drawn holds up the answers of its own requests, so these come first, for a moment.
await Promise.race([arrival.opening, new Promise((go) => setTimeout(go, PATIENCE_MS))]);
const { draw } = await import("./page");
await texts;
await draw(arrival);
