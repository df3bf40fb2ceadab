import type { QueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { tell } from "#base/domain/basewords.ts";
import type { Event, ID } from "#base/domain/contracts.ts";
import type { Computer } from "#base/domain/views.ts";
import { notifyDone } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { effectsOf, LANGUAGE } from "../domain/heard";
import { pathOf, type Route } from "../domain/route";
import { keysIn } from "../state/events";
import { type State, useStore } from "../state/store";
import { type ComputerAPI, computerAPI } from "../transport/api";
import { MarksReader } from "../transport/marks";
import { t } from "../words/words";
import { Connection, pause } from "./connection";
import { type Hands, perform, speakAsSet, wear } from "./effects";
import { SourceWatch } from "./watch";

/** Events read at the start and with each look further back. */
const PAGE = 400;

/** Pages read at most in search of the key of an old answer. */
const KEY_LOOKS = 10;

/** Whether the desktop is shown, which says by itself what was answered. */
function desktopAnswers(): boolean {
  const { route, frame } = useStore.getState();
  return route.page === "desktop" && frame !== "silent";
}

/** Waits until the desktop's prompt takes keys, does not come, or is not what is shown. */
function untilDesktop(): Promise<void> {
  const comes = ({ route, frame }: State) =>
    frame === "opening" && (route.page === "desktop" || route.page === "login");
  if (!comes(useStore.getState())) return Promise.resolve();
  return new Promise((done) => {
    const unsubscribe = useStore.subscribe((state) => {
      if (comes(state)) return;
      unsubscribe();
      done();
    });
  });
}

/**
 * One computer, opened in this page: what a person can do with it. What comes over the connection goes into the store;
 * what else follows from an event is an effect (`domain/heard.ts`, `effects.ts`).
 */
export class Session {
  readonly computer: ID;
  readonly api: ComputerAPI;
  readonly marks: MarksReader;
  /** Set when the address has to say which computer this is: it is not the first. */
  private readonly search: string;
  private readonly queries: QueryClient;
  private readonly connection: Connection;
  private readonly hands: Hands;
  /** Follows how the desktop is served. */
  readonly source: SourceWatch;

  constructor(computer: Computer, queries: QueryClient, first: boolean) {
    this.computer = computer.id;
    this.api = computerAPI(computer.id);
    this.search = first ? "" : `?computer=${computer.id}`;
    this.marks = new MarksReader({
      read: (limit, before) => this.api.moments.marks(before, limit),
      known: () => {
        const { marks, marksMore } = useStore.getState();
        return { marks, more: marksMore };
      },
      add: useStore.getState().addMarks,
      sleep: pause,
    });
    this.queries = queries;
    this.source = new SourceWatch({
      read: () => this.api.source(),
      tell: (source) => useStore.getState().setSource(source),
      reopen: () => useStore.getState().reopen(),
    });
    this.connection = new Connection(this.api, (events) => this.hear(events));
    this.hands = {
      readLook: () => this.readLook(),
      readRepos: () => this.queries.invalidateQueries({ queryKey: ["repos"] }),
      readComputer: () => this.refresh(),
      touchSource: () => this.source.touched(),
    };
    this.know(computer);
  }

  /** Reads what is there, then follows what happens until stopped. The desktop comes first: it needs none of it. */
  async start(head: number): Promise<void> {
    unawaited(this.readLook());
    await untilDesktop();
    const [runs, tail] = await Promise.all([this.api.runs(), this.api.events(Math.max(0, head - PAGE))]);
    const store = useStore.getState();
    store.setRuns(runs);
    store.append(tail.events);
    if (!this.connection.isOpened) this.connect();
  }

  /** Follows, or tries again after having given up. */
  connect(): void {
    this.connection.open(useStore.getState().events.at(-1)?.seq ?? 0);
  }

  stop(): void {
    this.connection.close();
    this.source.stop();
  }

  private hear(events: Event[]): void {
    useStore.getState().append(events);
    for (const event of events) {
      this.marks.hear(event.type);
      for (const effect of effectsOf(event, desktopAnswers())) perform(effect, this.hands);
    }
  }

  private async readLook(): Promise<void> {
    try {
      const { theme, settings } = await this.api.desktop();
      wear(theme);
      await speakAsSet(settings.find((s) => s.key === LANGUAGE)?.value);
    } catch {
      // The shell keeps the look it has, which every theme can be used with.
    }
  }

  private know(computer: Computer): void {
    const store = useStore.getState();
    store.setComputer(computer);
    store.addKeys(computer.isolation.flatMap((s) => (s.public_key ? [s.public_key] : [])));
  }

  /** Reads anew what is known of the computer: its models, the levels and keys of its sandboxes. */
  async refresh(): Promise<void> {
    try {
      this.know(await this.api.show());
    } catch {
      // What is shown stays; the feed says when the computer cannot be reached.
    }
  }

  /** The address of a route on this computer. */
  addressOf(route: Route): string {
    return pathOf(route) + this.search;
  }

  go(route: Route): void {
    const store = useStore.getState();
    if (pathOf(route) !== location.pathname) history.pushState(null, "", this.addressOf(route));
    store.setRoute(route);
    if (route.page === "run") unawaited(this.read(route.run));
    // On a narrow page one screen is seen at a time: this one.
    if (matchMedia("(max-width: 900px)").matches) store.setPanel("main");
  }

  /** Reads all events of a run; those that come meanwhile wait. */
  async read(run: ID): Promise<void> {
    const store = useStore.getState();
    if (store.stories[run] || store.pending[run]) return;
    store.awaitStory(run);
    const events: Event[] = [];
    try {
      for (let after = 0; ; ) {
        const page = await this.api.events(after, run);
        events.push(...page.events);
        const last = page.events.at(-1);
        if (!last || page.events.length < 1000) break;
        after = last.seq;
      }
    } finally {
      useStore.getState().setStory(run, events);
    }
  }

  async prompt(text: string, key: string): Promise<void> {
    const { repo } = useStore.getState();
    const { run } = await this.api.prompt(text, key, repo ? { repo } : {});
    this.go({ page: "run", run });
  }

  /** Asks for a fix: of a run that is open, else in a new one. */
  async fix(run: ID | undefined, text: string, key: string): Promise<void> {
    if (run) await this.api.steer(run, text);
    this.go({ page: "run", run: run ?? (await this.api.prompt(text, key)).run });
  }

  /** Plays the demo: on the desktop at the pace of a reader, with its windows, else on the page of its run. */
  async demo(): Promise<void> {
    const shown = desktopAnswers();
    const { run } = await this.api.demo(shown);
    if (shown) return; // the desktop says what it is
    this.go({ page: "run", run });
    notifyDone(tell("demoNotice"));
  }

  async checkpoint(): Promise<void> {
    const result = await this.api.checkpoint("");
    notifyDone(
      result.checkpoint ? t("step.checkpointMade", { id: result.checkpoint.slice(0, 7) }) : tell("nothingNew"),
    );
  }

  /** Looks at the computer as it was after an event, or as it is now. */
  look(seq: number | undefined): void {
    useStore.getState().setRoute(seq === undefined ? { page: "time" } : { page: "time", seq });
  }

  /** Puts the computer back to what it was after event `seq`; the toast offers the way back, over the page that `then` goes to. */
  async rewind(seq: number, said: string, then?: () => void): Promise<void> {
    const done = await this.api.rewind(seq, false);
    this.changed();
    // Another page withdraws what was offered before.
    then?.();
    const n = done.files.length;
    notifyDone(n > 0 ? t("step.wentBackFiles", { said, n }) : said, this.wayBack(done.seq && done.seq - 1));
  }

  /** Undoes what one run, task or tool call changed, and keeps what came after. Now is looked at, unless `then` is. */
  async undo(of: ID, then?: Route): Promise<void> {
    const done = await this.api.undo(of, false);
    this.changed();
    if (then) this.go(then);
    notifyDone(t("step.undid", { n: done.files.length }), this.wayBack(done.back_seq));
  }

  /** Merges the newer shipped desktop into the workspace's source; the toast offers the way back. */
  async upgradeDesktop(): Promise<void> {
    const { files, back_seq } = await this.api.upgrade(false);
    const left = files.filter((f) => f.fate === "conflict").length;
    const said = left > 0 ? t("desktop.upgradedBut", { n: left }) : t("desktop.upgraded");
    notifyDone(said, this.wayBack(back_seq));
  }

  /** Makes a second computer of this one as it was after an event. */
  async fork(seq: number, name: string): Promise<void> {
    const made = await this.api.fork(seq, name, false);
    unawaited(this.queries.invalidateQueries({ queryKey: ["computers"] }));
    notifyDone(t("step.isReady", { name: made.name }), {
      label: t("step.open"),
      run: () => location.assign(`${pathOf({ page: "runs" })}?computer=${made.id}`),
    });
  }

  /** How a step is undone: by going back to the moment before it. */
  private wayBack(seq: number | undefined) {
    if (!seq) return undefined;
    return { label: t("step.undo"), run: () => unawaited(this.rewind(seq, t("step.undone"))) };
  }

  // The present is different now, so what was compared with it is out of date.
  private changed(): void {
    this.look(undefined);
    history.replaceState(null, "", this.addressOf({ page: "time" }));
    for (const key of ["diff", "repos"]) unawaited(this.queries.invalidateQueries({ queryKey: [key] }));
  }

  /** Looks further back for a key that may have signed what stands at `seq`. */
  async findKeys(seq: number): Promise<void> {
    for (let end = seq, looks = 0; end > 0 && looks < KEY_LOOKS; end -= PAGE, looks++) {
      const page = await this.api.events(Math.max(0, end - PAGE));
      const keys = keysIn(page.events.filter((e) => e.seq <= seq));
      if (keys.length > 0) return useStore.getState().addKeys(keys);
    }
  }

  /** Reads the events before those that are here. */
  async lookBack(): Promise<void> {
    const first = useStore.getState().events[0]?.seq ?? 1;
    const page = await this.api.events(Math.max(0, first - 1 - PAGE));
    useStore.getState().prepend(page.events);
  }
}

export const SessionContext = createContext<Session | undefined>(undefined);

/** The session around a component. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("this part stands outside of a session");
  return session;
}
