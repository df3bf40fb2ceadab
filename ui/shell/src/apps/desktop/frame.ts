// Never allow-top-navigation: the desktop could put its own page in the shell's place.
// Nor allow-popups: with it one click anywhere carried data out in an address. Links
// come as messages, and the owner sees where they lead (LinkAsked).
const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-downloads allow-modals";
const ALLOW = "clipboard-write; fullscreen";

/**
 * The frame with the desktop. It lies beside the root of the page, where it can be put
 * before the page is drawn. Loads and messages that come before `follow` is called are
 * kept for it.
 */
export class Frame {
  readonly element = document.createElement("iframe");
  private readonly ended = new AbortController();
  private waiting: Event[] = [];
  private hear: ((event: Event) => void) | undefined;

  constructor() {
    this.element.className = "desktop-frame";
    this.element.setAttribute("sandbox", SANDBOX);
    this.element.allow = ALLOW;
    const { signal } = this.ended;
    const heard = (event: Event) => (this.hear ? this.hear(event) : this.waiting.push(event));
    this.element.addEventListener("load", heard, { signal });
    addEventListener("message", (e) => e.source === this.element.contentWindow && heard(e), { signal });
    document.body.append(this.element);
    document.body.dataset.desktop = "";
  }

  /** Gives every load and every message of the frame from its beginning on; gives what ends that. */
  follow(hear: (event: Event) => void): () => void {
    this.hear = hear;
    for (const event of this.waiting.splice(0)) hear(event);
    return () => {
      if (this.hear === hear) this.hear = undefined;
      this.waiting = [];
    };
  }

  /** Takes the frame and the desktop in it out of the page. */
  remove(): void {
    this.ended.abort();
    this.element.remove();
    delete document.body.dataset.desktop;
  }
}
