import { Settings } from "lucide-react";
import { names } from "#base/domain/names.ts";
import type { Manifest } from "../manifest";

export const manifest: Manifest = {
  id: "settings",
  title: names.settings,
  icon: Settings,
  size: { width: 760, height: 560 },
  least: { width: 320, height: 300 },
  keys: [],
  single: true,
  past: true,
  load: () => import("./App"),
};
