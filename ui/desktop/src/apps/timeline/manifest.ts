import { History } from "lucide-react";
import { names } from "#base/domain/names.ts";
import type { Manifest } from "../manifest";

export const manifest: Manifest = {
  id: "timeline",
  title: names.timeline,
  icon: History,
  size: { width: 1000, height: 660 },
  least: { width: 320, height: 320 },
  opens: (subject) => (subject.startsWith("moment:") ? 100 : 0),
  keys: [
    { keys: "Left", does: { en: "Moment before", de: "Voriger Zeitpunkt" } },
    { keys: "Right", does: { en: "Next moment", de: "Nächster Zeitpunkt" } },
    { keys: "PageDown", does: { en: "Run before", de: "Voriger Lauf" } },
    { keys: "PageUp", does: { en: "Next run", de: "Nächster Lauf" } },
    { keys: "Home", does: { en: "First moment known", de: "Erster bekannter Zeitpunkt" } },
    { keys: "End", does: { en: "Now", de: "Jetzt" } },
  ],
  load: () => import("./App"),
};
