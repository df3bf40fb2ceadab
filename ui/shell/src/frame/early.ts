import type { ID } from "#base/domain/contracts.ts";
import type { Opening } from "../transport/opening";
import { Frame } from "./frame";

/** The frame that was put into the page before the page was drawn. */
let early: { computer: ID; frame: Frame; begun: Opening } | undefined;

/** The page is drawn, and puts its own frame where it shows the desktop. */
let over = false;

/** Begins with the desktop of a computer before the page around it is drawn. */
export function openEarly(computer: ID, opening: Opening): void {
  if (over || !document.body) return;
  const frame = new Frame();
  frame.element.src = opening.url;
  early = { computer, frame, begun: opening };
}

/** Gives the early frame to the page that shows the desktop of its computer; undefined when there is none. */
export function takeFrame(computer: ID): { frame: Frame; begun: Opening | undefined } | undefined {
  const found = early;
  if (found?.computer !== computer) return dropFrame();
  over = true;
  early = undefined;
  return found;
}

/** Takes the early frame away: another page than the desktop is shown. */
export function dropFrame(): undefined {
  over = true;
  early?.frame.remove();
  early = undefined;
}
