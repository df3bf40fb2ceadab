import type { QueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { tell } from "#base/domain/basewords.ts";
import type { Event, ID } from "#base/domain/contracts.ts";
import { isOpen, type Run } from "#base/domain/views.ts";
import { notifyDone, notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import type { About } from "#base/transport/computer.ts";
import { effectsOf, staleAfter } from "../domain/heard";
import { pageClock } from "../domain/pace";
import { beginRun, closePrompt, endRun, noPrompts, type PromptStep, sendPrompt } from "../domain/prompted";
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
import { Connection } from "./connection";
import { DemoLater } from "./demoLater";
import { Drafts } from "./drafts";
import { type Hands, perform } from "./effects";
import { Stories } from "./stories";
import { fileInForce, followTheme } from "./themes";
import { Windows } from "./windows";

/**
 * This computer, opened in this page: what a person can do with it. What comes over the connection goes into the store
 * by pure rules (`domain`); what else follows from an event is an effect (`domain/heard.ts`, `effects.ts`).
 */
export class Session {
  readonly windows: Windows;
  readonly demo: DemoLater;
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
  private prompts = noPrompts;
  private readonly listeners = new Set<(event: Event) => void>();
  private readonly connection = new Connection({
    events: (events) => this.hear(events),
    draft: (changed) => this.drafts.hear(changed),
    state: (state) => {
      useStore.getState().setConnection(state);
      if (state === "live" || state === "polling") this.drafts.again();
    },
  });
  private readonly hands: Hands;
  private stopped = false;
  /** How often the desktop was put back while this page is open: an older answer is not shown. */
  private rewinds = 0;

  constructor(queries: QueryClient, apps: Apps) {
    this.queries = queries;
    this.windows = new Windows(apps);
    this.demo = new DemoLater(this.windows);
    this.hands = {
      windows: this.windows,
      readDesktop: (seq) => this.knowAgain(seq),
      endRun: (run, failed) => this.takePrompts(endRun(this.prompts, run, failed)),
    };
  }

  /** Takes over what lies on the desktop, then follows what happens. */
  start(state: DesktopState): void {
    this.know(state);
    unawaited(this.readRuns());
    // What comes meanwhile is caught up with; the prompt takes keys first.
    whenIdle(() => this.connection.open(state.seq));
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
        : tell("nothingNew"),
    );
  }

  /** Begins a run; gives its id. */
  async prompt(text: string, key: string, about: About = {}): Promise<ID> {
    return (await api.prompt(text, key, about)).run;
  }

  /** Begins a run with words of the prompt, which come back there when it fails. */
  async promptTyped(text: string, key: string, sent: () => void): Promise<void> {
    const { repo } = useStore.getState();
    this.prompts = sendPrompt(this.prompts);
    try {
      const run = await this.prompt(text, key, repo ? { repo } : {});
      sent();
      this.takePrompts(beginRun(this.prompts, run, { text, repo }));
    } finally {
      this.prompts = closePrompt(this.prompts);
    }
  }

  private takePrompts({ prompts, back }: PromptStep): void {
    this.prompts = prompts;
    if (back) useStore.getState().putWords({ ...back, over: false });
  }

  /** Puts the card of a run away, in every browser. */
  async dismiss(run: ID): Promise<void> {
    await api.dismiss(run);
    // What was typed a moment ago is on its way to the server, which drops what it has.
    this.drafts.drop("reply", run);
  }

  /** Reads what there is of a run, for its card. */
  readStory(run: ID): void {
    // The feed says when the computer cannot be reached; the line of the card stays.
    this.stories.read(run).catch(() => undefined);
  }

  stop(): void {
    this.stopped = true;
    this.connection.close();
  }

  /** Shows the desktop as it was, and follows nothing. */
  show(state: DesktopState): void {
    this.queries.clear();
    useStore.getState().forget();
    this.know(state);
  }

  private know(state: DesktopState): void {
    const store = useStore.getState();
    store.setKnown(state.windows, state.seq);
    store.setTheme(state.theme);
    store.setSettings(state.settings);
    if (state.theme_outdated) unawaited(followTheme());
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
    useStore.getState().hear(events);
    for (const event of events) {
      // The effects are of what was there before the event.
      const effects = effectsOf(event, { ...useStore.getState(), themeFile: fileInForce() });
      useStore.getState().hearWindow(event);
      useStore.getState().hearLook(event);
      this.stories.hear(event);
      for (const effect of effects) perform(effect, this.hands);
      for (const heard of this.listeners) heard(event);
    }
    // What is shown of files, documents and projects is read again once it may differ.
    for (const key of staleAfter(events)) unawaited(readAgain(this.queries, [key]));
  }
}

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
