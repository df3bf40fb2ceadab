import { readMessage, type ToDesktop, writeMessage } from "../domain/messages";
import type { Route } from "../domain/route";

/** How often a desktop may move the shell to another page, in milliseconds. */
const OPEN_EVERY_MS = 1_000;

/** What the shell does when the desktop says something. */
export interface Heard {
  /** The desktop takes keys, and opens a launcher of its own when it says that it has one. */
  ready(hasLauncher: boolean): void;
  typed(draft: string): void;
  /** A text is to be held for the page that comes after this one; "" for none. */
  hold(name: string, text: string): void;
  /** The person, who has just pressed something, wants the keyboard here. */
  left(): void;
  stop(): void;
  launcher(): void;
  open(route: Route): void;
  link(address: string): void;
}

/**
 * The line to the page in the frame. What comes from another window or origin
 * is not heard, and what is said reaches the desktop's origin only, whatever
 * the frame shows by then.
 */
export class DesktopLink {
  private readonly origin: string;
  private readonly frame: HTMLIFrameElement;
  private readonly heard: Heard;
  private openedAt = Number.NEGATIVE_INFINITY;

  constructor(frame: HTMLIFrameElement, origin: string, heard: Heard) {
    this.frame = frame;
    this.origin = origin;
    this.heard = heard;
  }

  say(message: ToDesktop): void {
    this.frame.contentWindow?.postMessage(writeMessage(message), this.origin);
  }

  /** Hears every message that reaches this page until `signal` is aborted. */
  listen(signal: AbortSignal): void {
    addEventListener("message", (e) => this.hear(e), { signal });
  }

  /** Does what a message of the frame's page asks for, if it is one that it may say. */
  hear(event: MessageEvent): void {
    if (event.origin !== this.origin || event.source !== this.frame.contentWindow) return;
    const message = readMessage(event.data);
    switch (message?.kind) {
      case "ready":
        this.heard.ready(message.launcher === true);
        break;
      case "draft":
        this.heard.typed(message.text);
        break;
      case "hold":
        this.heard.hold(message.name, message.text);
        break;
      case "leave":
        // Never on its own: what is typed would go elsewhere than the person thinks.
        if (navigator.userActivation?.isActive !== false) this.heard.left();
        break;
      case "chord":
        if (message.chord === "stop") this.heard.stop();
        else this.heard.launcher();
        break;
      case "open":
        // One that does it all the time would make the shell useless.
        if (performance.now() - this.openedAt < OPEN_EVERY_MS) break;
        this.openedAt = performance.now();
        this.heard.open(message.route);
        break;
      case "link":
        this.heard.link(message.address);
    }
  }
}
