import { backoff } from "#base/domain/backoff.ts";
import { Refusal } from "#base/domain/problem.ts";
import type { DraftChanged } from "#base/domain/views.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { type Clock, type Pace, pace } from "../domain/pace";
import { merged } from "../domain/splice";
import type { drafts as server } from "../transport/drafts";
import type { Shelf } from "../transport/shelf";

/** A text that is typed and not saved. */
export interface Typed {
  text: string;
  /** What it was made of, in the app's own words: a digest, a version. */
  base: string;
}

/** What whoever shows a draft hears of it. */
export interface Hears {
  /** It is another text now, typed in another browser or merged with one; undefined once it was saved or discarded there. */
  changed(now: Typed | undefined): void;
  /** Another browser typed in the same place. Nothing is sent until `decide`. */
  clashed(theirs: Typed): void;
}

/** Milliseconds between two sends of one draft. */
const SEND_MS = 300;
/** The longest pause before a draft is sent once more to a computer that cannot be reached, in milliseconds. */
const AWAY_MS = 60_000;
/** What a browser sends while a page is left, in bytes at most. */
const LAST_WORDS = 48 << 10;

/** It goes on being sent when the page is left; a character is at most three bytes. */
const fits = (typed: Typed | null) => (typed?.text.length ?? 0) < LAST_WORDS / 3;

const none = { revision: 0, text: "", base: "" };

/** One draft: what the server has, and what it is to have. */
class Entry {
  known: Typed & { revision: number } = none;
  /** Whether this page sent what the server has: otherwise somebody may be typing it elsewhere. */
  own = false;
  /** What waits to be sent: null to drop it, undefined when nothing waits. */
  wanted: Typed | null | undefined;
  /** What is saved, of which the text was made; undefined when the text that was typed last stays. */
  origin: string | undefined;
  sending = false;
  /** How often something was sent. */
  sent = 0;
  clash = false;
  /** Nobody showed the draft when it clashed: whoever types in it next is told. */
  unheard = false;
  failures = 0;
  /** It lies on the shelf, because it could not be sent. */
  held = false;
  /** Calls off the pause after which it is sent once more; undefined when there is none. */
  stopPause: (() => void) | undefined;
  /** What the server told of it while something was sent. */
  told: number | undefined;
  readonly hears = new Set<Hears>();
  /** How many show it, whether or not they want to hear of it. */
  watchers = 0;
  readonly pace: Pace<undefined>;
  readonly app: string;
  readonly subject: string;

  constructor(app: string, subject: string, clock: Clock, send: (entry: Entry) => void) {
    this.app = app;
    this.subject = subject;
    this.pace = pace<undefined>(SEND_MS, clock, () => send(this));
  }

  /** Whether the server told of nothing new: revisions grow, and 0 means that there is none. */
  isOld(revision: number): boolean {
    return revision === 0 ? this.known.revision === 0 : revision <= this.known.revision;
  }

  /** The text as it is typed here, or in another browser. */
  get now(): Typed | undefined {
    if (this.wanted !== undefined) return this.wanted ?? undefined;
    return this.known.revision > 0 ? this.known : undefined;
  }
}

/**
 * Keeps what is typed and not saved on the server, where a reload, a crash and a
 * window that is closed leave it alone and every other browser sees it. Apps say
 * what is typed; sending goes on when their windows are gone. What cannot be sent
 * lies on the page's shelf until it is, so that a reload goes on with it.
 */
export class Drafts {
  private readonly entries = new Map<string, Entry>();
  private readonly server: typeof server;
  private readonly clock: Clock;
  private readonly shelf: Shelf;
  private readonly onProblem: (error: unknown) => void;
  /** How many texts were sent: the server leaves a later one alone that overtook an earlier one. */
  private turns = 0;

  constructor(to: typeof server, clock: Clock, shelf: Shelf, onProblem: (error: unknown) => void) {
    this.server = to;
    this.clock = clock;
    this.shelf = shelf;
    this.onProblem = onProblem;
    for (const { app, subject, text, base, known, origin } of shelf.all()) {
      const entry = this.entry(app, subject);
      entry.wanted = { text, base };
      entry.known = known;
      entry.origin = origin;
      entry.held = true;
      entry.pace.put(undefined);
    }
  }

  /** Reads a draft, and tells of what other browsers make of it until `unwatch` is called. */
  watch(app: string, subject: string, hears?: Hears): { read: Promise<Typed | undefined>; unwatch(): void } {
    const entry = this.entry(app, subject);
    if (hears) entry.hears.add(hears);
    entry.watchers++;
    const unwatch = () => {
      if (hears) entry.hears.delete(hears);
      entry.watchers--;
      this.forget(entry);
    };
    return { read: this.read(entry).then(() => entry.now), unwatch };
  }

  /**
   * Keeps a text. `origin` is what is saved, of which it was made, for a merge with
   * what another browser typed; without it the text that was typed last stays.
   */
  keep(app: string, subject: string, typed: Typed, origin?: string): void {
    const entry = this.entry(app, subject);
    entry.origin = origin;
    const now = entry.now;
    if (now?.text === typed.text && now.base === typed.base) return;
    entry.wanted = typed;
    if (entry.failures > 0) this.hold(entry);
    if (entry.clash && entry.unheard) this.tellClash(entry);
    entry.pace.put(undefined);
  }

  /**
   * It was saved, or discarded. With `text`, which is what was, another text that was
   * typed in another browser stays.
   */
  drop(app: string, subject: string, text?: string): void {
    const entry = this.entries.get(key(app, subject));
    if (!entry) return;
    this.release(entry);
    if (text !== undefined && !entry.sending && !entry.own && entry.known.revision > 0 && entry.known.text !== text) {
      entry.clash = false;
      entry.wanted = undefined;
      this.forget(entry);
      return;
    }
    if (entry.clash) {
      // The other browser's text is not this one's to drop.
      entry.clash = false;
      entry.wanted = undefined;
      this.tell(entry);
      return;
    }
    if (entry.now === undefined && !entry.sending) {
      this.forget(entry);
      return;
    }
    entry.wanted = null;
    entry.pace.put(undefined);
    entry.pace.flush();
  }

  /** After a clash: what is kept next takes the place of the other's text. */
  decide(app: string, subject: string): void {
    const entry = this.entries.get(key(app, subject));
    if (!entry?.clash) return;
    entry.clash = false;
    entry.pace.put(undefined);
  }

  /** What the server tells: a draft was changed, here or in another browser. */
  hear({ app, subject, revision }: DraftChanged): void {
    const entry = this.entries.get(key(app, subject));
    if (!entry || entry.isOld(revision)) return;
    if (entry.sending) entry.told = revision;
    else this.followed(entry);
  }

  /** Sends what waits for the computer, and looks again at all that is shown: what was told meanwhile was not heard. */
  again(): void {
    for (const entry of this.entries.values()) {
      if (entry.stopPause) this.endPause(entry);
      if (!entry.sending) this.followed(entry);
    }
  }

  /** Sends what waits while the page is left; false when something cannot be sent so. */
  lastWords(): boolean {
    let all = true;
    for (const entry of this.entries.values()) {
      if (entry.wanted === undefined) continue;
      // The revision that is to be dropped is not known before the answer to what is on its way.
      const unknown = entry.wanted === null && entry.sending;
      if (!fits(entry.wanted) || entry.clash || entry.failures > 0 || unknown) all = false;
      // Its answer is not waited for, nor that of what is on its way.
      else this.bring(entry, entry.wanted).catch(() => undefined);
    }
    return all;
  }

  private entry(app: string, subject: string): Entry {
    const id = key(app, subject);
    const there = this.entries.get(id);
    if (there) return there;
    const made = new Entry(app, subject, this.clock, (entry) => unawaited(this.send(entry)));
    this.entries.set(id, made);
    return made;
  }

  /** Puts what waits on the shelf. */
  private hold(entry: Entry): void {
    const { app, subject, wanted, known, origin } = entry;
    if (!wanted) return;
    entry.held = true;
    const { revision, text, base } = known;
    this.shelf.put({
      app,
      subject,
      ...wanted,
      known: { revision, text, base },
      ...(origin === undefined ? {} : { origin }),
    });
  }

  private release(entry: Entry): void {
    if (!entry.held) return;
    entry.held = false;
    this.shelf.remove(entry.app, entry.subject);
  }

  private forget(entry: Entry): void {
    if (entry.watchers === 0 && entry.wanted === undefined && !entry.sending)
      this.entries.delete(key(entry.app, entry.subject));
  }

  /** Reads what the server has, unless something of here is on its way there. */
  private async read(entry: Entry): Promise<void> {
    if (entry.wanted !== undefined || entry.sending) return;
    const { sent } = entry;
    const found = await this.found(entry);
    // An answer from before the last send knows nothing of it.
    if (entry.wanted !== undefined || entry.sending || entry.sent !== sent) return;
    entry.own &&= found.revision === entry.known.revision;
    entry.known = found;
  }

  private async found({ app, subject }: Entry): Promise<Entry["known"]> {
    const { revision, text = "", base = "" } = await this.server.read(app, subject);
    return revision > 0 ? { revision, text, base } : none;
  }

  private followed(entry: Entry): void {
    // What waits here is held against it when it is sent.
    if (entry.wanted !== undefined) return;
    const before = entry.known;
    this.read(entry).then(
      () => entry.known.revision !== before.revision && this.tell(entry),
      // The next thing that is told, or connecting again, reads it.
      () => undefined,
    );
  }

  private tell(entry: Entry): void {
    for (const hears of entry.hears) hears.changed(entry.now);
  }

  private tellClash(entry: Entry): void {
    entry.unheard = entry.hears.size === 0;
    for (const hears of entry.hears) hears.clashed(entry.known);
  }

  private async send(entry: Entry): Promise<void> {
    const { wanted } = entry;
    if (wanted === undefined || entry.sending || entry.clash || entry.stopPause) return;
    entry.sending = true;
    entry.sent++;
    let pause: number | undefined;
    try {
      await this.bring(entry, wanted);
      entry.failures = 0;
      this.release(entry);
      if (entry.wanted === wanted) entry.wanted = undefined;
    } catch (error) {
      pause = this.refused(entry, wanted, error);
      if (!entry.wanted) this.release(entry);
      else if (entry.failures > 0) this.hold(entry);
    } finally {
      entry.sending = false;
    }
    this.sendNext(entry, pause);
  }

  private async bring(entry: Entry, wanted: Typed | null): Promise<void> {
    const { app, subject, known } = entry;
    if (wanted) {
      const { revision } = await this.server.write(
        app,
        subject,
        { ...wanted, made: known.revision, turn: ++this.turns },
        fits(wanted),
      );
      entry.known = { ...wanted, revision };
      entry.own = true;
    } else if (known.revision > 0) {
      await this.server.drop(app, subject, known.revision);
      entry.known = none;
    }
  }

  /** Says after how many milliseconds it is tried again; undefined for not by itself. */
  private refused(entry: Entry, wanted: Typed | null, error: unknown): number | undefined {
    const problem = error instanceof Refusal ? error.problem : undefined;
    if (problem?.code === "conflict") {
      this.meet(entry, wanted, problem.draft);
      return 0;
    }
    entry.failures++;
    if (problem?.status === 0) return Math.min(backoff(0, 0) * 2 ** entry.failures, AWAY_MS);
    if (problem?.code === "rate_limited" || problem?.code === "unavailable")
      return Math.max(backoff(entry.failures, 0), ((error as Refusal).retryAfter ?? 0) * 1000);
    this.onProblem(error);
    return undefined;
  }

  /** Another browser changed the draft meanwhile. */
  private meet(
    entry: Entry,
    sent: Typed | null,
    there: { revision: number; text?: string; base?: string } | undefined,
  ) {
    const { origin } = entry;
    const before = entry.known;
    const common = origin !== undefined && entry.known.revision > 0 ? entry.known.text : origin;
    entry.known = there ? { revision: there.revision, text: there.text ?? "", base: there.base ?? "" } : none;
    entry.own = false;
    const mine = entry.wanted;
    if (mine === null) {
      // The other browser kept the same words once more: they are dropped all the same.
      if (entry.known.revision > 0 && entry.known.text === (sent ?? before).text) return;
      // What was saved or discarded here was typed on there.
      entry.wanted = undefined;
      return this.tell(entry);
    }
    // What was saved or discarded there is typed on here.
    if (!mine || entry.known.revision === 0 || common === undefined) return;
    const both = merged(common, mine.text, entry.known.text);
    if (both === undefined) {
      entry.clash = true;
      return this.tellClash(entry);
    }
    const base = mine.text === common ? entry.known.base : mine.base;
    entry.wanted = both === entry.known.text ? undefined : { text: both, base };
    if (both !== mine.text) this.tell(entry);
  }

  private endPause(entry: Entry): void {
    entry.stopPause?.();
    entry.stopPause = undefined;
    unawaited(this.send(entry));
  }

  private sendNext(entry: Entry, pause: number | undefined): void {
    const { told } = entry;
    entry.told = undefined;
    if (entry.wanted !== undefined) {
      if (pause) entry.stopPause = this.clock.after(pause, () => this.endPause(entry));
      else if (pause === 0 || entry.failures === 0) entry.pace.put(undefined);
      return;
    }
    if (told !== undefined && !entry.isOld(told)) this.followed(entry);
    else this.forget(entry);
  }
}

const key = (app: string, subject: string) => `${app} ${subject}`;
