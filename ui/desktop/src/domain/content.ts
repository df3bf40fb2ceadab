import { extensionOf } from "./path";

/** What a file is shown as; "none" is what cannot be shown. */
export type Kind = "image" | "pdf" | "audio" | "video" | "text" | "none";

const endings: Record<Exclude<Kind, "text" | "none">, RegExp> = {
  image: /^(png|jpe?g|gif|webp|avif|svg|ico|bmp)$/,
  pdf: /^pdf$/,
  audio: /^(mp3|wav|ogg|oga|flac|m4a|aac|opus)$/,
  video: /^(mp4|webm|mov|mkv|ogv|m4v)$/,
};

/** What the name of a file says that it is. */
export function kindOfName(path: string): Exclude<Kind, "none"> {
  const ending = extensionOf(path);
  const found = Object.entries(endings).find(([, fits]) => fits.test(ending));
  return (found?.[0] as Exclude<Kind, "none"> | undefined) ?? "text";
}

/** What the server found the content to be, by its first bytes. */
function kindOfType(type: string): Kind {
  const [major = ""] = type.split("/");
  if (major === "image" || major === "audio" || major === "video" || major === "text") return major;
  return type.startsWith("application/pdf") ? "pdf" : "none";
}

/** What a file is shown as, and whether its name says something else. */
export interface Content {
  kind: Kind;
  lies: boolean;
}

/**
 * Says what a file is shown as: what it is rather than what it is called. The name decides
 * where the content does not: between sound and film, which share their containers, and for
 * kinds that only a player or a reader can tell.
 */
export function contentOf(path: string, type: string): Content {
  const said = kindOfName(path);
  const is = kindOfType(type);
  const plays = (kind: Kind) => kind === "audio" || kind === "video";
  if (is === said || (plays(is) && plays(said))) return { kind: said, lies: false };
  if (is === "none" && (plays(said) || said === "pdf" || isTable(path))) return { kind: said, lies: false };
  // A name without a known ending says nothing, so it cannot lie.
  return { kind: is, lies: said !== "text" || spoken.test(extensionOf(path)) };
}

/** Endings that say that a file is text. */
const spoken = /^(txt|md|markdown|json|jsonl|csv|tsv|html|css|js|ts|tsx|go|py|sh|toml|yaml|yml)$/;

/** Whether the name says that a file is a table in text. */
export function isTable(path: string): boolean {
  return /^(csv|tsv)$/.test(extensionOf(path));
}
