import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal } from "@xterm/xterm";
import type { ID } from "#base/domain/contracts.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { nextTask } from "../../kit/nextTask";
import { type End, type Size, terminals } from "../../transport/terminals";
import { Link, type LinkState, type Status, type Wire } from "./link";
import { paletteAt } from "./palette";
import { follow, muteAnswers, safeTitle } from "./safe";
import "@xterm/xterm/css/xterm.css";

/** What a screen tells. */
export interface ScreenHears {
  onState(state: LinkState): void;
  onStatus(status: Status): void;
  onEnd(end: End): void;
  onTitle(title: string): void;
  onTooFast(): void;
  /** A press that belongs to the app instead of the program. */
  isOurs(e: KeyboardEvent): boolean;
  /** The line that stands where output is not kept any more. */
  missed(bytes: number): string;
}

const encoder = new TextEncoder();

/**
 * Types what comes into the terminal's field without a key, such as the keys that were pressed while its window
 * opened: the terminal itself takes no line ends so, and nothing at all while a screen reader reads it.
 */
function takeInserted(host: HTMLElement, type: (text: string) => void): void {
  let pressed = false;
  const note = (e: Event) => {
    pressed = e.type === "keydown";
  };
  for (const name of ["keydown", "keyup", "focusin"]) host.addEventListener(name, note, true);
  host.addEventListener(
    "input",
    (e) => {
      if (pressed || !(e instanceof InputEvent) || !/^insert(Text|LineBreak|Paragraph)$/.test(e.inputType)) return;
      e.stopPropagation();
      type((e.data ?? "\n").replaceAll("\n", "\r"));
      // As after Enter: what was sent is not read out again.
      if (!e.data) (e.target as HTMLTextAreaElement).value = "";
    },
    true,
  );
}

/** One terminal as it is drawn, and its line to the computer. */
export class Screen {
  readonly term: Terminal;
  readonly search = new SearchAddon();
  private readonly fit = new FitAddon();
  private readonly link: Link;
  private readonly host: HTMLElement;
  private readonly hears: ScreenHears;
  private readonly sizes: ResizeObserver;
  private status: Status | undefined;
  private old = false;

  /** With `readOnly` nothing is typed into it. */
  constructor(id: ID, host: HTMLElement, hears: ScreenHears, label: string, readOnly: boolean) {
    this.host = host;
    this.hears = hears;
    this.term = new Terminal({
      allowProposedApi: true,
      disableStdin: readOnly,
      cursorBlink: !readOnly && !matchMedia("(prefers-reduced-motion: reduce)").matches,
      fontFamily: getComputedStyle(host).fontFamily,
      fontSize: 13.5,
      lineHeight: 1.2,
      minimumContrastRatio: 4.5,
      scrollback: 10_000,
      theme: paletteAt(host),
      linkHandler: { activate: (_, text) => follow(text), allowNonHttpProtocols: false },
    });
    this.link = new Link({
      dial: (after) => new WebSocket(terminals.socket(id, after)) as Wire,
      exists: async () => (await terminals.list()).some((t) => t.terminal === id),
      onOutput: (bytes, old, done) => this.write(bytes, old, done),
      onLost: (bytes) => {
        this.term.reset();
        this.term.writeln(`\x1b[2m${hears.missed(bytes)}\x1b[0m`);
      },
      onStatus: (status) => this.know(status),
      onState: hears.onState,
      onEnd: hears.onEnd,
      onTooFast: hears.onTooFast,
      later: (run, ms) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
      chance: Math.random,
    });
    this.equip(label);
    this.sizes = new ResizeObserver(() => this.measure());
    this.sizes.observe(host);
    document.addEventListener("visibilitychange", this.watch);
    window.addEventListener("online", this.again);
    this.measure();
    this.link.connect();
  }

  /** Frees everything. The terminal itself goes on. */
  stop(): void {
    document.removeEventListener("visibilitychange", this.watch);
    window.removeEventListener("online", this.again);
    this.sizes.disconnect();
    this.link.stop();
    this.term.dispose();
  }

  focus(): void {
    this.term.focus();
  }

  /** The last lines that were printed, without what is blank below them. */
  lastLines(most: number): string {
    const { active } = this.term.buffer;
    const lines: string[] = [];
    for (let at = Math.max(0, active.length - most); at < active.length; at++) {
      lines.push(active.getLine(at)?.translateToString(true) ?? "");
    }
    return lines.join("\n").trimEnd();
  }

  /** Draws with the colours that are in force now. */
  dress(): void {
    this.term.options.theme = paletteAt(this.host);
  }

  read(on: boolean): void {
    this.term.options.screenReaderMode = on;
  }

  private equip(label: string): void {
    const { term, hears } = this;
    term.loadAddon(this.fit);
    term.loadAddon(this.search);
    term.loadAddon(new UnicodeGraphemesAddon());
    // Each sign as wide as programs count it, one by one: they do not know of signs that are joined.
    term.unicode.activeVersion = "15";
    term.loadAddon(new WebLinksAddon((_, text) => follow(text)));
    term.open(this.host);
    term.textarea?.setAttribute("aria-label", label);
    term.textarea?.setAttribute("data-autofocus", "");
    term.textarea?.addEventListener("focus", () => this.link.use());
    takeInserted(this.host, (text) => term.input(text));
    term.attachCustomKeyEventHandler((e) => !hears.isOurs(e));
    term.onData((data) => this.link.type(encoder.encode(data)));
    term.onBinary((data) => this.link.type(Uint8Array.from(data, (c) => c.charCodeAt(0))));
    term.onTitleChange((title) => hears.onTitle(safeTitle(title)));
    muteAnswers(term, () => this.old || !(this.status?.lead ?? true));
    unawaited(this.accelerate());
  }

  /** Lets the graphics card draw, where there is a real one. */
  private async accelerate(): Promise<void> {
    await nextTask();
    if (!this.term.element) return;
    const canvas = document.createElement("canvas");
    const gl = canvas.getContext("webgl2", { failIfMajorPerformanceCaveat: true });
    if (!gl) return;
    gl.getExtension("WEBGL_lose_context")?.loseContext();
    const { WebglAddon } = await import("@xterm/addon-webgl");
    if (!this.term.element) return;
    const addon = new WebglAddon();
    addon.onContextLoss(() => addon.dispose());
    this.term.loadAddon(addon);
  }

  private write(bytes: Uint8Array, old: boolean, done: () => void): void {
    // The parser asks whether to answer while it reads, which is later.
    this.term.write("", () => {
      this.old = old;
    });
    this.term.write(bytes, done);
  }

  private know(status: Status): void {
    this.status = status;
    if (status.lead) this.measure();
    else this.term.resize(status.size.cols, status.size.rows);
    this.hears.onStatus(status);
  }

  /** Takes all the room there is, if this browser leads; says how much there is. */
  private measure(): void {
    const room = this.fit.proposeDimensions();
    if (!room || Number.isNaN(room.cols) || Number.isNaN(room.rows)) return;
    const size: Size = { cols: Math.max(2, Math.min(room.cols, 1000)), rows: Math.max(1, Math.min(room.rows, 1000)) };
    if (this.status?.lead ?? true) this.term.resize(size.cols, size.rows);
    this.link.resize(size);
  }

  // What is not seen needs no output, and must not hold it up.
  private readonly watch = () => (document.hidden ? this.link.pause() : this.link.connect());

  private readonly again = () => this.link.connect();
}
