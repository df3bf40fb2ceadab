import type { ThemeChanged } from "#base/domain/contracts.ts";
import { contrastOf, schemeOf } from "#base/domain/scheme.ts";
import { notifyAnswer } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import type { Effect } from "../domain/heard";
import { useStore } from "../state/store";

/** The parts of a session that effects go through. */
export interface Hands {
  readTheme(): Promise<void>;
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
    case "announce":
      useStore.getState().announce(effect.text);
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

/** Draws the shell as light or as dark as the desktop below it is, and with its contrast, in values of the shell's own; nothing else of a theme reaches it. */
export function wear(theme: ThemeChanged | undefined): void {
  const { style, dataset } = document.documentElement;
  style.colorScheme = schemeOf(theme);
  dataset.contrast = contrastOf(theme);
}
