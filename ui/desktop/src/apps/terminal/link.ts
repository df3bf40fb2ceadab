import { backoff } from "#base/domain/backoff.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import type { End, Size } from "../../transport/terminals";

/** What the server says besides output. */
export interface Note {
  output?: { from: number; lost?: number; head: number };
  status?: Status;
  taken?: number;
  end?: End;
  cut?: { detail: string };
}

/** What a terminal shows besides its output. */
export interface Status {
  size: Size;
  /** This browser was used last: its size counts, and it answers programs. */
  lead: boolean;
  viewers: number;
}

export type LinkState = "connecting" | "live" | "lost" | "ended";

/** The part of a WebSocket that a link needs. */
export interface Wire {
  binaryType: BinaryType;
  readyState: number;
  onopen: ((e: Event) => void) | null;
  onmessage: ((e: MessageEvent) => void) | null;
  onclose: ((e: CloseEvent) => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
}

/** What a link needs and tells. */
export interface LinkParts {
  /** Opens a socket that gives the output after an offset. */
  dial(after: number): Wire;
  /** Whether the terminal still is there; throws when nobody knows. */
  exists(): Promise<boolean>;
  /** Takes output in; `done` is called once it is shown. `old` was shown somewhere before. */
  onOutput(bytes: Uint8Array, old: boolean, done: () => void): void;
  /** So much output is not kept any more. */
  onLost(bytes: number): void;
  onStatus(status: Status): void;
  onState(state: LinkState): void;
  onEnd(end: End): void;
  /** More was typed than can be kept. */
  onTooFast(): void;
  later(run: () => void, ms: number): () => void;
  chance(): number;
}

/** How long a socket may take to open, in milliseconds: a browser waits for minutes. */
export const DIAL_MS = 10_000;

/** Why a socket closed, besides the codes of RFC 6455. */
const ENDED = 4000;
const CUT = 4001;

/** The code of RFC 6455 for a connection that ended without one. */
const ABNORMAL = 1006;

/** Bytes typed that the server may have before it says that some were taken; what may wait here; of one frame. */
const AHEAD = 192 << 10;
const WAITING = 16 << 20;
const FRAME = 32 << 10;

/** Shown output is acknowledged after so many bytes, and when there is no more. */
const ACK = 32 << 10;

/** A browser's line to a terminal: it comes back by itself, and continues where it was. */
export class Link {
  private readonly parts: LinkParts;
  private wire: Wire | undefined;
  private attempt = 0;
  private cancel: (() => void) | undefined;
  private stopped = false;

  private got = 0; // offset of the next byte of output
  private shown = 0;
  private acked = 0;
  private head = 0;

  private waiting: Uint8Array<ArrayBuffer>[] = [];
  private held = 0; // bytes waiting
  private sent = 0; // bytes typed into this socket
  private taken = 0;
  private size: Size | undefined;
  private used = false;

  constructor(parts: LinkParts) {
    this.parts = parts;
  }

  /** Connects, or connects again at once. */
  connect(): void {
    if (this.stopped || this.wire) return;
    this.cancel?.();
    this.parts.onState(this.attempt === 0 ? "connecting" : "lost");
    const wire = this.parts.dial(this.got);
    this.wire = wire;
    wire.binaryType = "arraybuffer";
    wire.onopen = () => this.opened();
    wire.onmessage = (e) => this.hear(e.data);
    wire.onclose = (e) => this.closed(e.code);
    this.cancel = this.parts.later(() => this.breakOff(), DIAL_MS);
  }

  /** Lets go of the socket and of everything. */
  stop(): void {
    this.stopped = true;
    this.cancel?.();
    this.drop();
  }

  /** Lets go of the socket until `connect`. */
  pause(): void {
    this.cancel?.();
    this.drop();
  }

  /** Types. */
  type(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.held + bytes.length > WAITING) {
      this.parts.onTooFast();
      return;
    }
    for (let at = 0; at < bytes.length; at += FRAME) this.waiting.push(bytes.slice(at, at + FRAME));
    this.held += bytes.length;
    this.flush();
  }

  /** Says how much room there is. */
  resize(size: Size): void {
    if (this.size?.rows === size.rows && this.size.cols === size.cols) return;
    this.size = size;
    this.say({ size });
  }

  /** Says that somebody turned to the terminal here. */
  use(): void {
    this.used = true;
    this.say({ use: true });
  }

  private opened(): void {
    this.cancel?.();
    this.attempt = 0;
    this.sent = 0;
    this.taken = 0;
    this.acked = this.shown;
    this.say({ ...(this.size ? { size: this.size } : {}), ...(this.used ? { use: true } : {}) });
    this.parts.onState("live");
    this.flush();
  }

  private hear(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      this.show(new Uint8Array(data));
      return;
    }
    const note = readNote(data);
    if (!note) {
      this.breakOff();
      return;
    }
    if (note.output) this.place(note.output);
    if (note.status) this.parts.onStatus(note.status);
    if (note.taken) {
      this.taken = note.taken;
      this.flush();
    }
    if (note.end) this.finish(note.end);
  }

  private place({ from, lost = 0, head }: NonNullable<Note["output"]>): void {
    this.head = head;
    this.got = from;
    if (lost > 0) {
      this.parts.onLost(lost);
      this.shown = Math.max(this.shown, from);
    }
  }

  /** Gives output on, cut where what was printed before the socket came ends. */
  private show(bytes: Uint8Array): void {
    const old = Math.max(0, Math.min(bytes.length, this.head - this.got));
    for (const [part, wasOld] of [
      [bytes.subarray(0, old), true],
      [bytes.subarray(old), false],
    ] as const) {
      if (part.length === 0) continue;
      this.got += part.length;
      const end = this.got;
      this.parts.onOutput(part, wasOld, () => this.acknowledge(end));
    }
  }

  private acknowledge(offset: number): void {
    this.shown = Math.max(this.shown, offset);
    if (this.shown - this.acked < ACK && this.shown < this.got) return;
    this.acked = this.shown;
    this.say({ ack: this.shown });
  }

  /** Sends what waits, as far as the program takes it. */
  private flush(): void {
    while (this.isOpen() && this.sent - this.taken < AHEAD) {
      const next = this.waiting.shift();
      if (!next) return;
      this.held -= next.length;
      this.sent += next.length;
      this.wire?.send(next);
    }
  }

  private say(what: object): void {
    if (this.isOpen() && Object.keys(what).length > 0) this.wire?.send(JSON.stringify(what));
  }

  private isOpen(): boolean {
    return this.wire?.readyState === 1;
  }

  private drop(): void {
    const { wire } = this;
    this.wire = undefined;
    if (!wire) return;
    wire.onopen = null;
    wire.onmessage = null;
    wire.onclose = null;
    wire.close();
  }

  /** Lets go of a socket that does not open, or has something else at its end than choir. */
  private breakOff(): void {
    this.drop();
    this.closed(ABNORMAL);
  }

  private closed(code: number): void {
    this.wire = undefined;
    this.cancel?.();
    if (this.stopped) return;
    if (code === ENDED) {
      this.finish({ reason: "lost", code: -1 });
      return;
    }
    this.parts.onState("lost");
    const wait = code === CUT ? 0 : backoff(this.attempt, this.parts.chance());
    this.attempt++;
    this.cancel = this.parts.later(() => unawaited(this.again()), wait);
  }

  private async again(): Promise<void> {
    try {
      if (!(await this.parts.exists())) {
        this.finish({ reason: "lost", code: -1 });
        return;
      }
    } catch {
      // Nobody can say; the socket finds out.
    }
    this.connect();
  }

  private finish(end: End): void {
    if (this.stopped) return;
    this.stopped = true;
    this.drop();
    this.parts.onState("ended");
    this.parts.onEnd(end);
  }
}

/** What the server says besides output; undefined for what means nothing. */
function readNote(text: string): Note | undefined {
  try {
    const note: unknown = JSON.parse(text);
    return typeof note === "object" && note !== null ? note : undefined;
  } catch {
    return undefined;
  }
}
