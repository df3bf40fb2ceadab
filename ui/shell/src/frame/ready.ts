/** How long a page may take to say that it is ready, in milliseconds. */
export const READY_MS = 5_000;

/**
 * Holds pages to their word: each that is loaded says that it is ready, before
 * or after the browser says that it is loaded.
 */
export class ReadyWatch {
  private readonly silent: () => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** A page was ready before it was loaded. */
  private early = false;
  /** Nothing was heard of the first page yet. */
  private first = true;

  constructor(silent: () => void) {
    this.silent = silent;
    this.wait();
  }

  ready(): void {
    // Waiting for the first page, one cannot know which of the two comes first.
    this.early = this.first || this.timer === undefined;
    this.first = false;
    this.end();
  }

  loaded(): void {
    this.first = false;
    this.end();
    if (!this.early) this.wait();
    this.early = false;
  }

  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private wait(): void {
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.silent();
    }, READY_MS);
  }
}
