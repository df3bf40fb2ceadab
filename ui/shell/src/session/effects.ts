import type { Event, ThemeChanged } from "#base/domain/contracts.ts";
import { languageOf } from "#base/domain/language.ts";
import { contrastOf, schemeOf } from "#base/domain/scheme.ts";
import { notifyAnswer } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import type { Effect } from "../domain/heard";
import { useStore } from "../state/store";
import { speakIn } from "../words/words";

/** The parts of a session that effects go through. */
export interface Hands {
  readLook(): Promise<void>;
  readRepos(): Promise<void>;
  readComputer(): Promise<void>;
  touchSource(): void;
}

/** Carries out what follows from an event. */
export function perform(effect: Effect, hands: Hands): void {
  switch (effect.kind) {
    case "wear":
      wear(effect.theme);
      break;
    case "speak":
      unawaited(speakAsSet(effect.setting));
      break;
    case "announce":
      unawaited(announce(effect.event));
      break;
    case "showAnswer":
      notifyAnswer(effect.text);
      break;
    case "touchSource":
      hands.touchSource();
      break;
    default:
      unawaited(hands[effect.kind]());
  }
}

/** The words of the log come after the page, and announcements in the order of their events. */
async function announce(event: Event): Promise<void> {
  const { sentenceOf } = await import("../domain/sentence");
  useStore.getState().announce(sentenceOf(event));
}

/** Draws the shell as light or as dark as the desktop below it is, and with its contrast, in values of the shell's own; nothing else of a theme reaches it. */
export function wear(theme: ThemeChanged | undefined): void {
  const { style, dataset } = document.documentElement;
  style.colorScheme = schemeOf(theme);
  dataset.contrast = contrastOf(theme);
}

/** Speaks the language that the computer is set to, else that of the browser. */
export async function speakAsSet(setting = ""): Promise<void> {
  await speakIn(languageOf(setting, navigator.languages));
}
