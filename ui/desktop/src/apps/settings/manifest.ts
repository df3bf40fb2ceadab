import { Settings } from "lucide-react";
import type { Manifest } from "../manifest";

export const manifest: Manifest = {
  id: "settings",
  title: { en: "Settings", de: "Einstellungen" },
  icon: Settings,
  size: { width: 760, height: 560 },
  least: { width: 320, height: 300 },
  keys: [],
  single: true,
  past: true,
  load: () => import("./App"),
};
