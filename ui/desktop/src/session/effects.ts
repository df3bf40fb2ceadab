import type { ID } from "#base/domain/contracts.ts";
import { notifyDone } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import type { Effect } from "../domain/heard";
import { deskWords } from "../i18n/desk";
import { say } from "../i18n/words";
import { useStore } from "../state/store";
import { followTheme } from "./themes";
import type { Windows } from "./windows";

/** The parts of a session that effects go through. */
export interface Hands {
  windows: Pick<Windows, "open" | "present">;
  /** Reads what lies on the desktop after a rewind, event `seq`. */
  readDesktop(seq: number): Promise<void>;
  endRun(run: ID, failed: boolean): void;
}

/** Carries out what follows from an event. */
export function perform(effect: Effect, hands: Hands): void {
  const { announce, language } = useStore.getState();
  switch (effect.kind) {
    case "announce":
      announce(say(deskWords, language, effect.words, { text: effect.text }));
      break;
    case "readDesktop":
      unawaited(hands.readDesktop(effect.seq));
      break;
    case "readTheme":
      unawaited(followTheme());
      break;
    case "offerWindow": {
      const { app, subject, name } = effect;
      const openAgain = () => unawaited(hands.windows.open(app, subject, name));
      const label = say(deskWords, language, "openAgain");
      notifyDone(say(deskWords, language, "closedElsewhere", { name }), { label, run: openAgain });
      break;
    }
    case "showMade":
      unawaited(hands.windows.present(effect.subject, effect.run));
      break;
    case "endRun":
      hands.endRun(effect.run, effect.failed);
  }
}
