import type { QueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import type { Event, ID } from "../domain/contracts";
import { pathOf, type Route } from "../domain/route";
import type { Computer } from "../domain/views";
import { notifyAnswer, notifyDone } from "../kit/notify";
import { keysIn } from "../state/events";
import { useStore } from "../state/store";
import { ComputerAPI } from "../transport/api";
import { openLine } from "../transport/bus";
import { Feed } from "../transport/feed";

/** Events read at the start and with each look further back. */
const PAGE = 400;

/** Pages read at most in search of the key of an old answer. */
const KEY_LOOKS = 10;

/** One computer, opened in this page: what a person can do with it. */
export class Session {
  readonly api: ComputerAPI;
  private readonly queries: QueryClient;
  private feed: Feed | undefined;

  constructor(computer: Computer, queries: QueryClient) {
    this.api = new ComputerAPI(computer.id);
    this.queries = queries;
    this.know(computer);
  }

  /** Reads what is there, then follows what happens until stopped. */
  async start(head: number): Promise<void> {
    const [runs, tail] = await Promise.all([this.api.runs(), this.api.events(Math.max(0, head - PAGE))]);
    const store = useStore.getState();
    store.setRuns(runs);
    store.append(tail.events);
    this.connect();
  }

  /** Follows, or tries again after having given up. */
  connect(): void {
    this.feed?.stop();
    const store = useStore.getState();
    const parts = {
      credentials: () => this.api.credentials(),
      events: (after: number) => this.api.events(after),
      open: openLine,
      onEvents: (events: Event[]) => this.hear(events),
      onLive: store.hear,
      onState: store.setConnection,
      now: Date.now,
      chance: Math.random,
      sleep: (ms: number) => new Promise<void>((done) => setTimeout(done, ms)),
    };
    this.feed = new Feed(parts, store.events.at(-1)?.seq ?? 0);
    void this.feed.run();
  }

  stop(): void {
    this.feed?.stop();
  }

  private hear(events: Event[]): void {
    useStore.getState().append(events);
    for (const event of events) {
      if (event.type === "toast.shown") notifyAnswer(event.payload.text);
      if (event.type === "repo.added") void this.queries.invalidateQueries({ queryKey: ["repos"] });
      // The levels and keys of sandboxes are part of the computer.
      if (event.type.startsWith("sandbox.")) void this.refresh();
    }
  }

  private know(computer: Computer): void {
    const store = useStore.getState();
    store.setComputer(computer);
    store.addKeys(computer.isolation.flatMap((s) => (s.public_key ? [s.public_key] : [])));
  }

  private async refresh(): Promise<void> {
    try {
      this.know(await this.api.show());
    } catch {
      // What is shown stays; the feed says when the computer cannot be reached.
    }
  }

  go(route: Route): void {
    const store = useStore.getState();
    if (pathOf(route) !== location.pathname) history.pushState(null, "", pathOf(route));
    store.setRoute(route);
    if (route.page === "run") void this.read(route.run);
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
    const { run } = await this.api.prompt(text, useStore.getState().repo, key);
    this.go({ page: "run", run });
  }

  async demo(): Promise<void> {
    const { run, notice } = await this.api.demo();
    this.go({ page: "run", run });
    notifyDone(notice);
  }

  async checkpoint(): Promise<void> {
    const result = await this.api.checkpoint("");
    notifyDone(result.checkpoint ? `Checkpoint ${result.checkpoint.slice(0, 7)} made` : result.summary);
  }

  /** Goes back to the workspace as it was after event `seq`; the toast offers the way back. */
  async rewind(seq: number): Promise<void> {
    const done = await this.api.rewind(seq, false);
    const undo = done.seq;
    notifyDone(
      `Rewound ${done.files.length} ${done.files.length === 1 ? "file" : "files"}`,
      undo ? { label: "Undo", run: () => void this.rewind(undo - 1) } : undefined,
    );
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
