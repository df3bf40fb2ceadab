// A browser that speaks the W3C's WebDriver, and the desktop in it.
import { writeFile } from "node:fs/promises";
import { PATIENCE_MS } from "./browser.js";

/** How an element is written in answers and arguments. */
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

/** The keys that no character stands for. */
const KEYS = { Control: "\uE009", Alt: "\uE00A", Shift: "\uE008", Enter: "\uE007", Escape: "\uE00C" };
const ARROWS = { ArrowLeft: "\uE012", ArrowUp: "\uE013", ArrowRight: "\uE014", ArrowDown: "\uE015" };
const keyOf = (name) => KEYS[name] ?? ARROWS[name] ?? name;

/** Runs a function in a page, and says what it gave or threw. */
const body = (fn) => `
  const done = arguments[arguments.length - 1];
  Promise.resolve().then(() => (${fn})(...[...arguments].slice(0, -1))).then(
    (value) => done({ value }),
    (error) => done({ error: String(error) }),
  );`;

/** Runs in a page: gives what a function gives once that is something, or undefined after a while. */
const poll = (fn) => `(patience, ...args) => new Promise((done, fail) => {
  const end = performance.now() + patience;
  const look = async () => {
    try {
      const value = await (${fn})(...args);
      if (value || performance.now() > end) return done(value || null);
    } catch (error) {
      return fail(error);
    }
    requestAnimationFrame(look);
  };
  look();
})`;

/** A page that went away while it was looked at is looked at again. */
const gone = new Set([
  "no such frame",
  "no such element",
  "stale element reference",
  "no such window",
  "javascript error",
  "unknown error",
]);

export class Driver {
  /**
   * @param {(command: string, parameters?: object) => Promise<unknown>} send
   *   answers a command of WebDriver, or throws an error whose `code` is WebDriver's.
   */
  constructor(send) {
    this.send = send;
  }

  goto(url) {
    return this.send("Navigate", { url });
  }

  reload() {
    return this.send("Refresh");
  }

  /** Runs a function in the shell's page. */
  async inShell(fn, ...args) {
    await this.send("SwitchToFrame", { id: null });
    return this.#run(fn, args);
  }

  /** Runs a function in the desktop's page. */
  async inDesktop(fn, ...args) {
    await this.#enter();
    return this.#run(fn, args);
  }

  /** Waits until a function gives something in the shell's page. */
  untilShell(fn, ...args) {
    return this.#until((f, ...a) => this.inShell(f, ...a), fn, args);
  }

  /** Waits until a function gives something in the desktop's page. */
  untilDesktop(fn, ...args) {
    return this.#until((f, ...a) => this.inDesktop(f, ...a), fn, args);
  }

  /** Presses keys at once, such as Control+Alt+n, in the desktop. */
  async press(chord) {
    const keys = chord.split("+").map(keyOf);
    await this.#keys([
      ...keys.map((value) => ({ type: "keyDown", value })),
      ...keys.reverse().map((value) => ({ type: "keyUp", value })),
    ]);
  }

  /** Types text into the desktop, key by key. */
  async type(text) {
    await this.#keys([...text].flatMap((value) => ["keyDown", "keyUp"].map((type) => ({ type, value }))));
  }

  /** Takes a picture of the window into a file. */
  async shoot(path) {
    await this.send("SwitchToFrame", { id: null });
    await writeFile(path, Buffer.from(await this.send("TakeScreenshot", { full: false }), "base64"));
  }

  async #keys(actions) {
    await this.#enter();
    await this.send("PerformActions", { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  async #enter() {
    await this.send("SwitchToFrame", { id: null });
    const id = await this.send("FindElement", { using: "css selector", value: "iframe.desktop-frame" });
    await this.send("SwitchToFrame", { id: { [ELEMENT]: id[ELEMENT] } });
  }

  async #run(fn, args) {
    const answer = await this.send("ExecuteAsyncScript", { script: body(fn), args });
    if (!answer) throw Object.assign(new Error("the page went away"), { code: "no such window" });
    const { value, error } = answer;
    if (error) throw new Error(error);
    return value;
  }

  async #until(run, fn, args) {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        const found = await run(poll(fn), 2_000, ...args);
        if (found) return found;
      } catch (error) {
        if (!gone.has(error.code)) throw error;
      }
      if (performance.now() > end) throw new Error(`not within ${PATIENCE_MS} ms: ${fn} ${JSON.stringify(args)}`);
    }
  }
}
