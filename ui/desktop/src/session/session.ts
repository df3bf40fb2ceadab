import type { QueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import type { Event, ID } from "#base/domain/contracts.ts";
import { type DraftChanged, isOpen, type Run } from "#base/domain/views.ts";
import { notifyDone, notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import type { About } from "#base/transport/computer.ts";
import { Feed, type FeedState } from "#base/transport/feed.ts";
import { oneLine } from "../domain/card";
import { pageClock } from "../domain/pace";
import { changeTo, defaultTheme, sameTheme } from "../domain/theme";
import { deskWords } from "../i18n/desk";
import { say } from "../i18n/words";
import { readAgain } from "../state/again";
import { useStore } from "../state/store";
import { untilAnswered } from "../transport/again";
import { api } from "../transport/api";
import { type DesktopState, desk } from "../transport/desk";
import { drafts } from "../transport/drafts";
import { shelf } from "../transport/shelf";
import type { Apps } from "./apps";
import { Demo } from "./demo";
import { Drafts } from "./drafts";
import { Stories } from "./stories";
import { readWorkspaceTheme, themePath } from "./themes";
import { Windows } from "./windows";

/** How long after it gave up a feed is begun again, in milliseconds. */
const RECONNECT_MS = 5_000;

/** This computer, opened in this page: what a person can do with it. */
export class Session {
  readonly windows: Windows;
  readonly demo: Demo;
  /** What is typed and not saved. */
  readonly drafts = new Drafts(drafts, pageClock, shelf, notifyProblem);
  private readonly queries: QueryClient;
  private readonly stories = new Stories({
    known: (run) => useStore.getState().stories[run],
    put: (run, story) => {
      useStore.getState().setStory(run, story);
      this.demo.follow(story);
    },
    read: async (run, after) => (await api.events(after, run)).events,
  });
  /** The runs that the prompt of this page began, with its words. */
  private readonly begun = new Map<ID, { text: string; repo: string }>();
  /** Runs that failed while a prompt was on its way: the answer that names its run may come later. */
  private readonly failedMeanwhile = new Set<ID>();
  private promptsUnderWay = 0;
  private readonly listeners = new Set<(event: Event) => void>();
  private feed: Feed | undefined;
  private again: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;
  /** How often the desktop was put back while this page is open: an older answer is not shown. */
  private rewinds = 0;

  constructor(queries: QueryClient, apps: Apps) {
    this.queries = queries;
    this.windows = new Windows(apps);
    this.demo = new Demo(this.windows);
  }

  /** Takes over what lies on the desktop, then follows what happens. */
  start(state: DesktopState): void {
    this.know(state);
    unawaited(this.readRuns());
    // What comes meanwhile is caught up with; the prompt takes keys first.
    whenIdle(() => !this.stopped && this.connect(state.seq));
  }

  /** Calls back for every event from now on; gives what ends it. */
  listen(heard: (event: Event) => void): () => void {
    this.listeners.add(heard);
    return () => this.listeners.delete(heard);
  }

  /** The newest run that still works. */
  openRun(): Run | undefined {
    return useStore.getState().runs.find((r) => isOpen(r.state));
  }

  async stopRun(): Promise<void> {
    const run = this.openRun();
    if (run) await api.cancel(run.id);
  }

  async checkpoint(): Promise<void> {
    const result = await api.checkpoint("");
    const { language } = useStore.getState();
    notifyDone(
      result.checkpoint
        ? say(deskWords, language, "checkpointMade", { id: result.checkpoint.slice(0, 7) })
        : result.summary,
    );
  }

  /** Begins a run; gives its id. */
  async prompt(text: string, key: string, about: About = {}): Promise<ID> {
    return (await api.prompt(text, key, about)).run;
  }

  /** Begins a run with words of the prompt, which come back there when it fails. */
  async promptTyped(text: string, key: string, sent: () => void): Promise<void> {
    const { repo, putWords } = useStore.getState();
    this.promptsUnderWay++;
    try {
      const run = await this.prompt(text, key, repo ? { repo } : {});
      sent();
      if (this.failedMeanwhile.delete(run)) putWords({ text, repo, over: false });
      else this.begun.set(run, { text, repo });
    } finally {
      if (--this.promptsUnderWay === 0) this.failedMeanwhile.clear();
    }
  }

  /** Puts the card of a run away, in every browser. */
  async dismiss(run: ID): Promise<void> {
    await api.dismiss(run);
  }

  /** Reads what there is of a run, for its card. */
  readStory(run: ID): void {
    // The feed says when the computer cannot be reached; the line of the card stays.
    this.stories.read(run).catch(() => undefined);
  }

  private connect(after: number): void {
    const store = useStore.getState();
    const parts = {
      credentials: api.credentials,
      events: (cursor: number) => api.events(cursor),
      // The bus is not needed to show the desktop.
      open: async (...args: Parameters<typeof import("#base/transport/bus.ts").openLine>) =>
        (await import("#base/transport/bus.ts")).openLine(...args),
      onEvents: (events: Event[]) => this.hear(events),
      onLive: () => {},
      onState: (state: FeedState) => {
        store.setConnection(state);
        if (state === "live" || state === "polling") this.drafts.again();
      },
      onDraft: (changed: DraftChanged) => this.drafts.hear(changed),
      now: Date.now,
      chance: Math.random,
      sleep: (ms: number) => new Promise<void>((done) => setTimeout(done, ms)),
    };
    const feed = new Feed(parts, after);
    this.feed = feed;
    unawaited(
      feed.run().then(() => {
        // It gives up when it never was live; a desktop goes on trying.
        if (this.stopped || useStore.getState().connection !== "given_up") return;
        this.again = setTimeout(() => this.connect(feed.cursor), RECONNECT_MS);
      }),
    );
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.again);
    this.feed?.stop();
  }

  /** Shows the desktop as it was, and follows nothing. */
  show(state: DesktopState): void {
    this.queries.clear();
    useStore.getState().forget();
    this.know(state);
  }

  private know(state: DesktopState): void {
    const store = useStore.getState();
    store.setKnown(state.windows ?? [], state.seq);
    store.setTheme(state.theme);
    store.setSettings(state.settings ?? []);
    if (state.theme_outdated) unawaited(this.followTheme());
  }

  /** What lies on the desktop after a rewind, asked for until there is an answer: what is shown is of before. */
  private async knowAgain(seq: number): Promise<void> {
    const rewind = ++this.rewinds;
    const read = await untilAnswered(
      () => Promise.all([desk.state(), api.runs()]),
      () => this.stopped || rewind !== this.rewinds,
    );
    if (!read) return;
    const [state, runs] = read;
    this.know(state);
    useStore.getState().setUndone(runs, seq);
  }

  private async readRuns(): Promise<void> {
    try {
      const [computer, runs] = await Promise.all([api.show(), api.runs()]);
      useStore.getState().setComputer(computer);
      useStore.getState().setRuns(runs);
    } catch {
      // The feed says when the computer cannot be reached; the next look reads them.
    }
  }

  private hear(events: Event[]): void {
    const store = useStore.getState();
    store.hear(events);
    for (const event of events) {
      this.hearOne(event);
      for (const heard of this.listeners) heard(event);
    }
    this.refresh(events);
  }

  private hearOne(event: Event): void {
    const store = useStore.getState();
    if (event.type === "window.closed") this.closedElsewhere(event.payload.window);
    if (event.type.startsWith("window.")) store.hearWindow(event);
    else if (event.type === "theme.changed") store.setTheme(event.payload);
    else if (event.type === "setting.changed") store.setSetting(event.payload.key, event.payload.value ?? "");
    else if (event.type === "timeline.rewound") unawaited(this.knowAgain(event.seq));
    else if (event.type === "file.written") this.followFiles(event.payload.files.map((f) => f.path));
    this.stories.hear(event);
    this.tellOfRun(event);
  }

  /** Says once, to those who hear the page, what becomes of a run; words that led to nothing come back. */
  private tellOfRun(event: Event): void {
    const { announce, language, putWords } = useStore.getState();
    if (event.type === "prompt.submitted")
      announce(say(deskWords, language, "saidBegun", { text: oneLine(event.payload.text) }));
    else if (event.type === "question.asked")
      announce(say(deskWords, language, "saidAsks", { text: event.payload.question.text }));
    else if (event.type === "run.finished" && event.run) {
      const { outcome, answer } = event.payload;
      announce(say(deskWords, language, ends[outcome], { text: oneLine(answer, 1000) }));
      const words = this.begun.get(event.run);
      if (outcome === "failed") {
        if (words) putWords({ ...words, over: false });
        else if (this.promptsUnderWay > 0) this.failedMeanwhile.add(event.run);
      }
      this.begun.delete(event.run);
    }
  }

  /** Another browser closed a window in which something is typed: it is kept, and the way back to it is shown. */
  private closedElsewhere(id: ID): void {
    const { unsaved, language } = useStore.getState();
    const text = unsaved.get(id);
    const win = this.windows.get(id);
    if (!text || !win) return;
    notifyDone(say(deskWords, language, "closedElsewhere", { name: text.name }), {
      label: say(deskWords, language, "openAgain"),
      run: () => unawaited(this.windows.open(win.app, win.subject, text.name)),
    });
  }

  private followFiles(paths: readonly string[]): void {
    if (paths.includes(themePath(nameInForce()))) unawaited(this.followTheme());
  }

  /** The theme in force lies in the workspace too: who edits it there sees it here. */
  private async followTheme(): Promise<void> {
    const name = nameInForce();
    const theme = await readWorkspaceTheme(themePath(name));
    if (theme?.name !== name || name !== nameInForce()) return;
    const change = changeTo(theme);
    if (!sameTheme(change, useStore.getState().theme)) await desk.setTheme(change).catch(() => undefined);
  }

  /** What is shown of files, documents and checkpoints is read again once it may differ. */
  private refresh(events: readonly Event[]): void {
    const begins = (kind: string) => events.some((e) => e.type.startsWith(kind));
    const stale: string[] = [];
    if (begins("file.") || begins("timeline.")) stale.push("files");
    if (begins("document.") || begins("overlay.") || begins("timeline.")) stale.push("documents");
    if (begins("repo.")) stale.push("repos");
    for (const key of stale) unawaited(readAgain(this.queries, [key]));
  }
}

/** How the end of a run is said. */
const ends = { done: "saidDone", failed: "saidFailed", cancelled: "saidCancelled" } as const;

const nameInForce = () => useStore.getState().theme?.name ?? defaultTheme;

export const SessionContext = createContext<Session | undefined>(undefined);

/** The session around a component. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("this part stands outside of a session");
  return session;
}

/** Runs `work` when the page has nothing more urgent to do, or in a second. */
function whenIdle(work: () => void): void {
  if ("requestIdleCallback" in window) requestIdleCallback(work, { timeout: 1000 });
  else setTimeout(work, 200);
}
