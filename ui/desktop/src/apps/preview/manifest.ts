import { Globe } from "lucide-react";
import { names } from "#base/domain/names.ts";
import type { Manifest } from "../manifest";

export const manifest: Manifest = {
  id: "preview",
  title: names.preview,
  icon: Globe,
  size: { width: 960, height: 660 },
  least: { width: 320, height: 260 },
  opens: (subject) => (subject.startsWith("http://localhost:") ? 100 : 0),
  keys: [
    { keys: "Enter", does: { en: "Go to the address", de: "Zur Adresse gehen" } },
    { keys: "Escape", does: { en: "Drop what was typed", de: "Getipptes verwerfen" } },
  ],
  load: () => import("./App"),
};
