import { SquareTerminal } from "lucide-react";
import { names } from "#base/domain/names.ts";
import type { Manifest } from "../manifest";

export const manifest: Manifest = {
  id: "terminal",
  title: names.terminal,
  icon: SquareTerminal,
  size: { width: 780, height: 500 },
  least: { width: 320, height: 220 },
  opens: (subject) => (subject.startsWith("terminal:") ? 100 : 0),
  keys: [
    { keys: "Alt+Shift+N", does: { en: "New terminal", de: "Neues Terminal" } },
    { keys: "Alt+Shift+W", does: { en: "Close this terminal", de: "Dieses Terminal schließen" } },
    { keys: "Alt+Shift+Left", does: { en: "Terminal before", de: "Voriges Terminal" } },
    { keys: "Alt+Shift+Right", does: { en: "Next terminal", de: "Nächstes Terminal" } },
    { keys: "Alt+Shift+F", does: { en: "Search the output", de: "Die Ausgabe durchsuchen" } },
    { keys: "Ctrl+Shift+C", does: { en: "Copy what is marked", de: "Markiertes kopieren" } },
    { keys: "Ctrl+Shift+V", does: { en: "Paste", de: "Einfügen" } },
    {
      keys: "Ctrl+Alt+K",
      does: { en: "Launcher: Ctrl+K is the program's", de: "Starter: Strg+K gehört dem Programm" },
    },
    {
      keys: "Ctrl+Alt+J",
      does: { en: "Prompt: Ctrl+J is the program's", de: "Eingabezeile: Strg+J gehört dem Programm" },
    },
    {
      keys: "Alt+Shift+B",
      does: { en: "Leave the terminal, to its tabs", de: "Das Terminal verlassen, zu den Reitern" },
    },
  ],
  load: () => import("./App"),
};
