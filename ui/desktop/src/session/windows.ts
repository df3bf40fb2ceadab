import type { ID, Rect } from "#base/domain/contracts.ts";
import { Refusal } from "#base/domain/problem.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { pace, pageClock } from "../domain/pace";
import { maximisedOf, minimisedOf, opened, restoredOf, type Snap, snappedOf, type Win } from "../domain/windows";
import type { There } from "../domain/wmnew";
import { focusedOf, onDesktop } from "../domain/wmorder";
import { NARROW, placed } from "../domain/wmplace";
import { holdKeys } from "../kit/heldkeys";
import { useStore } from "../state/store";
import { past } from "../transport/address";
import { desk, type Opening } from "../transport/desk";
import type { AppFacts, Apps } from "./apps";
import { Sender } from "./sending";

/** Milliseconds between two moves of one drag that the server hears of; it takes 600 changes a minute. */
const MOVE_MS = 120;

const state = () => useStore.getState();

/** Says of a window what became of it; set by the desk, which has the words. */
export type Tell = (what: "opened" | "closed" | "minimised" | "maximised" | "restored" | "snapped", win: Win) => void;

/** What a person does with windows: here at once, then on the server. */
export class Windows {
  tell: Tell = () => {};
  readonly apps: Apps;
  private top = Number.MAX_SAFE_INTEGER / 2;
  private readonly sender = new Sender({
    settled: (id, seq) => state().settle(id, seq),
    dropped: (id, error) => {
      state().letGo(id);
      if (error) notifyProblem(error);
    },
    sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
  });

  private readonly moves = pace<{ id: ID; bounds: Rect }>(MOVE_MS, pageClock, ({ id, bounds }) => {
    const win = this.get(id);
    if (win) this.change({ ...win, bounds }, "move", () => desk.move(id, { bounds }));
  });

  constructor(apps: Apps) {
    this.apps = apps;
  }

  get(id: ID): Win | undefined {
    return state().windows.find((w) => w.id === id);
  }

  /** The windows of an app, the lowest first. */
  of(app: string): Win[] {
    return state().windows.filter((w) => w.app === app);
  }

  focused(): Win | undefined {
    return focusedOf(state().windows, state().desktop);
  }

  /** Opens an app, or brings up the window that shows the same already. */
  async open(app: string, subject = "", title = ""): Promise<void> {
    const facts = this.apps.of(app);
    if (!facts) return;
    const { windows, desktop } = state();
    const there =
      windows.find((w) => w.app === app && (facts.single || (subject && w.subject === subject))) ??
      (facts.blank ? onDesktop(windows, desktop).findLast((w) => w.app === app && !w.subject) : undefined);
    if (there) {
      if (subject && there.subject !== subject) this.retitle(there.id, title, subject);
      return this.focus(there.id);
    }
    const typeHeld = holdKeys();
    try {
      await this.openNew(facts, subject, title);
    } catch (error) {
      typeHeld();
      notifyProblem(error);
    }
  }

  /** Opens a subject in the app that opens it best. */
  async openSubject(subject: string, title = ""): Promise<void> {
    const [app] = this.apps.openers(subject);
    if (app) await this.open(app.id, subject, title);
  }

  /**
   * Opens a window at a place for a run, without taking the keyboard from whoever types; the same key opens it once.
   * One that shows the same, or the only one of its app, comes up instead.
   */
  async stage(app: string, subject: string, bounds: Rect, key: string, run: ID): Promise<void> {
    const typing = this.focused();
    const there = this.of(app).find((w) => w.subject === subject || this.apps.of(app)?.single);
    if (there) {
      this.retitle(there.id, "", subject);
      this.raise(there);
      return;
    }
    const { desktop } = state();
    this.apps.preload(app);
    const window = await this.ask({ app, subject, bounds, desktop, run }, key);
    // A terminal takes the keyboard when it is the window on top. Where one window is seen at a time it is on top all
    // the same, and leaves the keyboard at the prompt.
    if (app === "terminal" && typing && state().area.width > NARROW) this.raise(typing);
    this.tell("opened", window);
  }

  /** Opens a subject for a run that made it, once in all browsers, beside whoever types. */
  async present(subject: string, run: ID): Promise<void> {
    const [app] = this.apps.openers(subject);
    if (!app) return;
    const { placeOfNew } = await import("../domain/wmnew");
    const bounds = placeOfNew(app.size, this.seen(), state().area);
    try {
      await this.stage(app.id, subject, bounds, `made-${run}`, run);
    } catch (error) {
      tellTrouble(error);
    }
  }

  private raise(win: Win): void {
    this.change(this.raised(win.state === "minimised" ? restoredOf(win) : win), "focus", () =>
      desk.show(win.id, "focus"),
    );
  }

  private async openNew(app: AppFacts, subject: string, title: string): Promise<void> {
    // Its code is fetched while the server is asked.
    this.apps.preload(app.id);
    const { placeOfNew } = await import("../domain/wmnew");
    const { area, desktop, typed } = state();
    const bounds = placeOfNew(app.size, this.seen(), area);
    const window = await this.ask({ app: app.id, subject, title, bounds, desktop }, crypto.randomUUID());
    // A person who began other words in the prompt meanwhile goes on there.
    const now = state().typed;
    if (now === "" || now === typed) state().want(window.id);
    this.tell("opened", window);
  }

  /** Has the server open a window, which is here before its event is. */
  private async ask(opening: Opening, key: ID): Promise<Win> {
    const { window, seq } = await desk.open(opening, key);
    const win = opened(window.id, opening, seq);
    state().learnWindow(win, seq);
    return win;
  }

  /** The windows that are seen on this desktop, where they are drawn. */
  private seen(): There {
    const { area, desktop, windows } = state();
    const top = focusedOf(windows, desktop);
    const others = onDesktop(windows, desktop).flatMap((w) => (w.id === top?.id ? [] : (placed(w, area) ?? [])));
    return { focused: top && placed(top, area), steps: top?.state === "normal", others };
  }

  focus(id: ID): void {
    const win = this.get(id);
    if (!win) return;
    state().want(id);
    if (this.focused()?.id === id) return;
    const desktop = win.desktop ?? 0;
    if (desktop !== state().desktop) this.goTo(desktop);
    this.raise(win);
  }

  minimise(id: ID): void {
    this.toState(id, minimisedOf, "minimise", "minimised");
    this.focusNext();
  }

  maximise(id: ID): void {
    this.toState(id, (w) => this.raised(maximisedOf(w)), "maximise", "maximised");
  }

  restore(id: ID): void {
    this.toState(id, (w) => this.raised(restoredOf(w)), "restore", "restored");
    state().want(id);
  }

  /** The keyboard goes to the window that is on top now, else to the prompt. */
  private focusNext(): void {
    state().want(this.focused()?.id ?? null);
  }

  /** Closes a window; when that would lose what is typed in it, the person is asked. */
  close(id: ID): void {
    if (!state().unsaved.has(id)) this.remove(id);
    else {
      this.focus(id);
      state().setClosing(id);
    }
  }

  /** Closes a window without asking. */
  remove(id: ID): void {
    this.moves.flush();
    const win = this.get(id);
    if (!win) return;
    state().goAhead(id, undefined);
    this.focusNext();
    this.sender.put({ window: id, name: "close", send: () => desk.show(id, "close") });
    this.tell("closed", win);
  }

  snap(id: ID, to: Snap): void {
    // The last move of a drag comes before what letting go does, not after it.
    this.moves.flush();
    const win = this.get(id);
    if (!win || (win.state === "snapped" && win.snap === to)) return;
    this.change(this.raised(snappedOf(win, to)), "snap", () => desk.snap(id, to));
    this.tell("snapped", win);
  }

  /** Gives a window bounds; during a drag the server hears of it now and then. */
  move(id: ID, bounds: Rect, dragging = false): void {
    const win = this.get(id);
    if (!win) return;
    if (dragging) {
      this.moves.put({ id, bounds });
      return;
    }
    this.moves.flush();
    const normal = win.state === "normal" ? win : restoredOf({ ...win, state: "normal" });
    this.change({ ...normal, bounds }, "move", () => desk.move(id, { bounds }));
  }

  toDesktop(id: ID, desktop: number): void {
    const win = this.get(id);
    if (win) this.change({ ...win, desktop }, "desktop", () => desk.move(id, { desktop }));
  }

  retitle(id: ID, title: string, subject: string): void {
    const win = this.get(id);
    if (!win || ((win.title ?? "") === title && (win.subject ?? "") === subject)) return;
    this.change({ ...win, title, subject }, "title", () => desk.retitle(id, title, subject));
  }

  /** Shows another virtual desktop, in every browser. */
  goTo(desktop: number): void {
    this.set("desktop.current", desktop === 0 ? "" : String(desktop));
  }

  set(key: string, value: string): void {
    state().setSetting(key, value);
    desk.set(key, value).catch(notifyProblem);
  }

  private hidden: ID[] = [];

  /** Minimises all windows of the desktop, or brings back those it minimised. */
  showDesktop(): void {
    const open = onDesktop(state().windows, state().desktop).filter((w) => w.state !== "minimised");
    if (open.length > 0) {
      this.hidden = open.map((w) => w.id);
      for (const win of open) this.minimise(win.id);
      return;
    }
    for (const id of this.hidden) if (this.get(id)?.state === "minimised") this.restore(id);
    this.hidden = [];
  }

  private toState(
    id: ID,
    make: (win: Win) => Win,
    how: "minimise" | "maximise" | "restore",
    said: Parameters<Tell>[0],
  ): void {
    this.moves.flush();
    const win = this.get(id);
    if (!win) return;
    this.change(make(win), how, () => desk.show(id, how));
    this.tell(said, win);
  }

  private raised(win: Win): Win {
    return { ...win, focused_seq: ++this.top };
  }

  private change(win: Win, name: string, send: Parameters<Sender["put"]>[0]["send"]): void {
    state().goAhead(win.id, win);
    // What apps say of their windows of then is for this page only.
    if (!past) this.sender.put({ window: win.id, name, send });
  }
}

/** Another browser may have been the first; its window is here by itself. */
export function tellTrouble(error: unknown): void {
  if (!(error instanceof Refusal && error.problem.code === "invalid")) notifyProblem(error);
}
