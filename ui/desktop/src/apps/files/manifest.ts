import { Folder } from "lucide-react";
import { names } from "#base/domain/names.ts";
import type { Manifest } from "../manifest";

export const manifest: Manifest = {
  id: "files",
  title: names.files,
  icon: Folder,
  size: { width: 900, height: 580 },
  least: { width: 320, height: 260 },
  opens: (subject) => (subject.endsWith("/") || /^(search|trash):/.test(subject) ? 100 : 0),
  keys: [
    { keys: "Enter", does: { en: "Open", de: "Öffnen" } },
    { keys: "Backspace", does: { en: "To the folder above", de: "Zum Ordner darüber" } },
    { keys: "Space", does: names.quickLook },
    { keys: "F2", does: { en: "Rename", de: "Umbenennen" } },
    { keys: "Delete", does: { en: "To the trash", de: "In den Papierkorb" } },
    { keys: "Ctrl+A", does: { en: "Choose all", de: "Alles auswählen" } },
    { keys: "Ctrl+C", does: { en: "Copy", de: "Kopieren" } },
    { keys: "Ctrl+X", does: { en: "Cut", de: "Ausschneiden" } },
    { keys: "Ctrl+V", does: { en: "Paste here", de: "Hier einfügen" } },
    { keys: "Ctrl+F", does: { en: "Search below this folder", de: "Unterhalb dieses Ordners suchen" } },
    { keys: "Ctrl+Shift+N", does: { en: "New folder", de: "Neuer Ordner" } },
  ],
  past: true,
  load: () => import("./App"),
};
