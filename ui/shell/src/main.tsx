import { arrive } from "./transport/arrival";
import "#base/styles/fonts.css";
import "#base/styles/tokens.css";
import "./styles/tokens.css";
import "#base/styles/base.css";
import "./styles/contrast.css";

// A new link that is pasted over the address of the login page does not load the page anew by itself.
addEventListener("hashchange", () => {
  if (location.pathname === "/login" && location.hash.length > 1) location.reload();
});

const arrival = arrive();

// The requests go out before the larger part of the script is read.
const { draw } = await import("./page");
draw(arrival);
