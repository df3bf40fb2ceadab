import type { ID } from "#base/domain/contracts.ts";
import type { Story } from "#base/domain/story.ts";
import { isOpen } from "#base/domain/views.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { type Cue, cuesOf, demoTerminal, isFresh, isLed, placesOf, seenOf, sliderOf } from "../domain/demo";
import { useStore } from "../state/store";
import { api } from "../transport/api";
import { terminals } from "../transport/terminals";
import { tellTrouble, type Windows } from "./windows";

/** Events that are read at once. */
const PAGE = 1000;

const state = () => useStore.getState();

/** The recorded demo on the desktop: a real run whose windows open by themselves. */
export class Demo {
  private readonly windows: Windows;
  /** What each demo has shown; of one that this page did not see begin, all that it had shown by then. */
  private readonly shown = new Map<ID, Set<Cue>>();
  private opening: Promise<void> = Promise.resolve();

  constructor(windows: Windows) {
    this.windows = windows;
  }

  /** Begins it, once the windows of those that are over are gone. While one plays the server refuses another. */
  async start(): Promise<void> {
    const before = state().runs.filter((r) => r.paced && !r.dismissed && !isOpen(r.state));
    await Promise.all(before.map((r) => this.clear(r.id)));
    await api.demo(true);
  }

  /** Shows what a demo has come to. Every browser does; each window is opened by the first. */
  follow(story: Story): void {
    let shown = this.shown.get(story.run);
    if (!shown) {
      shown = new Set(isFresh(story) ? [] : cuesOf(story));
      this.shown.set(story.run, shown);
      if (shown.has("slider")) this.leadLater(story).catch(notifyProblem);
    }
    for (const cue of cuesOf(story)) {
      if (shown.has(cue)) continue;
      shown.add(cue);
      this.opening = this.opening.then(() => this.show(cue, story)).catch(tellTrouble);
    }
  }

  /** Opens the timeline of a demo that ended while no page looked; the log says whether one has done so. */
  private async leadLater(story: Story): Promise<void> {
    const run = state().runs.find((r) => r.id === story.run);
    if (!run || run.dismissed) return;
    const { events } = await api.events(run.first_seq);
    // So much has happened since that nobody waits for its end.
    if (events.length === PAGE || isLed(events, run.id)) return;
    this.opening = this.opening.then(() => this.show("slider", story)).catch(tellTrouble);
  }

  /** Closes what a demo opened, and puts its card away. */
  async clear(run: ID): Promise<void> {
    const story = state().stories[run];
    const of = new Set([`run:${run}`, sliderOf(run), seenOf(run), story?.document && `document:${story.document.id}`]);
    const own = (await terminals.list()).filter((t) => t.title === demoTerminal.title);
    for (const { terminal } of own) of.add(`terminal:${terminal}`);
    for (const win of state().windows) if (of.has(win.subject)) this.windows.remove(win.id);
    await Promise.all([api.dismiss(run), ...own.map((t) => terminals.close(t.terminal))]);
  }

  private async show(cue: Cue, story: Story): Promise<void> {
    const at = placesOf(state().area)[cue];
    const key = `demo-${story.run}-${cue}`;
    switch (cue) {
      case "trace":
        return this.windows.stage("trace", `run:${story.run}`, at, key, story.run);
      case "document":
        return this.windows.stage("writer", `document:${story.document?.id}`, at, key, story.run);
      case "terminal": {
        const cwd = demoTerminal.cwd(story.repo ?? "");
        const made = await terminals.open({ cwd, title: demoTerminal.title, type: demoTerminal.keys }, key);
        return this.windows.stage("terminal", `terminal:${made.terminal}`, at, key, story.run);
      }
      case "slider":
        return this.windows.stage("timeline", sliderOf(story.run), at, key, story.run);
    }
  }
}
