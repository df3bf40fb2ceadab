import { Image } from "lucide-react";
import { names } from "#base/domain/names.ts";
import { extensionOf } from "../../domain/path";
import type { Manifest } from "../manifest";

const best =
  /^(png|jpe?g|gif|webp|avif|svg|ico|bmp|pdf|mp3|wav|ogg|oga|flac|m4a|opus|mp4|webm|mov|mkv|ogv|m4v|csv|tsv)$/;
const well = /^(json|jsonl|md|markdown)$/;

export const manifest: Manifest = {
  id: "viewer",
  title: names.viewer,
  icon: Image,
  size: { width: 820, height: 600 },
  least: { width: 280, height: 220 },
  hidden: true,
  opens(subject) {
    if (/^(document|run|search|trash):/.test(subject) || subject.endsWith("/")) return 0;
    const ending = extensionOf(subject);
    return best.test(ending) ? 90 : well.test(ending) ? 40 : 0;
  },
  keys: [
    { keys: "+", does: { en: "Larger", de: "Größer" } },
    { keys: "-", does: { en: "Smaller", de: "Kleiner" } },
    { keys: "0", does: { en: "Fit the window", de: "Ans Fenster anpassen" } },
  ],
  past: true,
  load: () => import("./App"),
};
