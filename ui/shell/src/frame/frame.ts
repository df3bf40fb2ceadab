// Never allow-top-navigation: the desktop could put its own page in the shell's place.
// Nor allow-popups: with it one click anywhere carried data out in an address. Links
// come as messages, and the owner sees where they lead (LinkAsked).
const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-downloads allow-modals";
const ALLOW = "clipboard-write; fullscreen";

/** Loads and messages of a page that nobody follows yet: two are expected, and a hostile page sends more. */
const MOST_EARLY = 16;

/**
 * The frame with the desktop. It lies beside the root of the page, where it can be put
 * before the page is drawn. Loads and messages that come before `follow` is first called
 * are kept for it.
 */
export class Frame {
  readonly element = document.createElement("iframe");
  private readonly ended = new AbortController();
  /** What came before anybody followed; undefined from then on. */
  private early: Event[] | undefined = [];
  private hear: ((event: Event) => void) | undefined;

  constructor() {
    this.element.className = "desktop-frame";
    this.element.setAttribute("sandbox", SANDBOX);
    this.element.allow = ALLOW;
    const { signal } = this.ended;
    const heard = (event: Event) => {
      if (this.hear) this.hear(event);
      else if (this.early && this.early.length < MOST_EARLY) this.early.push(event);
    };
    this.element.addEventListener("load", heard, { signal });
    addEventListener("message", (e) => e.source === this.element.contentWindow && heard(e), { signal });
    document.body.append(this.element);
    document.body.dataset.desktop = "";
  }

  /** Calls back for every load and every message of the frame, the first time from its beginning on; gives what ends that. */
  follow(hear: (event: Event) => void): () => void {
    const early = this.early ?? [];
    this.early = undefined;
    this.hear = hear;
    for (const event of early) hear(event);
    return () => {
      if (this.hear === hear) this.hear = undefined;
    };
  }

  /** Takes the frame and the desktop in it out of the page. */
  remove(): void {
    this.ended.abort();
    this.element.remove();
    delete document.body.dataset.desktop;
  }
}
