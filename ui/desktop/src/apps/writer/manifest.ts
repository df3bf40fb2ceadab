import { PenLine } from "lucide-react";
import { names } from "#base/domain/names.ts";
import type { Manifest } from "../manifest";

export const manifest: Manifest = {
  id: "writer",
  title: names.writer,
  icon: PenLine,
  size: { width: 880, height: 680 },
  least: { width: 320, height: 280 },
  opens: (subject) => (subject.startsWith("document:") ? 100 : 0),
  keys: [
    { keys: "Ctrl+S", does: { en: "Save now", de: "Jetzt speichern" } },
    { keys: "Ctrl+B", does: { en: "Bold", de: "Fett" } },
    { keys: "Ctrl+I", does: { en: "Italic", de: "Kursiv" } },
    { keys: "Ctrl+Alt+C", does: { en: "Comment on the selection", de: "Auswahl kommentieren" } },
    { keys: "Alt+PageUp", does: { en: "The version before", de: "Die Fassung davor" } },
    { keys: "Alt+PageDown", does: { en: "The version after", de: "Die Fassung danach" } },
  ],
  past: true,
  load: () => import("./App"),
};
