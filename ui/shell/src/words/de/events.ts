import type { Translated } from "#base/domain/words.ts";
import type { events as english } from "../en/events";

export const events: Translated<typeof english> = {
  filter: "Ereignisse filtern",
  filterPlaceholder: "Nach Worten oder Typ filtern",
  onlyRun: "Nur dieser Lauf",
  none: "Kein Ereignis hier sagt das.",
  earlier: "Frühere Ereignisse zeigen",
};
