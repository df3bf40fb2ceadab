import type { ID } from "#base/domain/contracts.ts";
import type { Story } from "#base/domain/story.ts";
import { past } from "../transport/address";
import type { Demo } from "./demo";
import { tellTrouble, type Windows } from "./windows";

/** The recorded demo, whose code is fetched when one is started or plays: most pages never show it. */
export class DemoLater {
  private readonly windows: Windows;
  private fetched?: Promise<Demo>;

  constructor(windows: Windows) {
    this.windows = windows;
  }

  private get(): Promise<Demo> {
    this.fetched ??= import("./demo").then(({ Demo }) => new Demo(this.windows));
    return this.fetched;
  }

  /** See `Demo.start`. */
  start = async (): Promise<void> => (await this.get()).start();

  /** See `Demo.clear`. */
  clear = async (run: ID): Promise<void> => (await this.get()).clear(run);

  /** See `Demo.follow`. Stories come in the order in which they are followed. */
  follow(story: Story): void {
    if (story.paced && !past)
      this.get()
        .then((demo) => demo.follow(story))
        .catch(tellTrouble);
  }
}
