import { Workflow } from "lucide-react";
import { names } from "#base/domain/names.ts";
import type { Manifest } from "../manifest";

export const manifest: Manifest = {
  id: "trace",
  title: names.trace,
  icon: Workflow,
  size: { width: 980, height: 640 },
  least: { width: 320, height: 280 },
  opens: (subject) => (subject.startsWith("run:") ? 50 : 0),
  keys: [
    { keys: "Down", does: { en: "Next step", de: "Nächster Schritt" } },
    { keys: "Up", does: { en: "Step before", de: "Voriger Schritt" } },
  ],
  past: true,
  load: () => import("./App"),
};
