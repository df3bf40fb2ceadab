import { FileCode } from "lucide-react";
import { names } from "#base/domain/names.ts";
import { extensionOf } from "../../domain/path";
import type { Manifest } from "../manifest";

const sources =
  /^(go|mod|sum|ts|tsx|js|jsx|mjs|cjs|py|rs|c|h|cpp|hpp|java|kt|swift|rb|php|lua|sh|bash|css|scss|html|xml|sql|toml|ya?ml|json|jsonl|ini|conf|env|txt|log|diff|patch)$/;

export const manifest: Manifest = {
  id: "code",
  title: names.code,
  icon: FileCode,
  size: { width: 900, height: 640 },
  least: { width: 320, height: 240 },
  opens(subject) {
    if (/^(document|run|search|trash):/.test(subject) || subject.endsWith("/")) return 0;
    return sources.test(extensionOf(subject)) ? 80 : 20;
  },
  keys: [
    { keys: "Ctrl+S", does: { en: "Save", de: "Speichern" } },
    { keys: "Ctrl+F", does: { en: "Find and replace", de: "Suchen und ersetzen" } },
    { keys: "Ctrl+Shift+D", does: { en: "Show what is different", de: "Unterschiede zeigen" } },
    { keys: "Escape Tab", does: { en: "Leave the text by Tab", de: "Den Text mit Tab verlassen" } },
  ],
  blank: true,
  past: true,
  load: () => import("./App"),
};
