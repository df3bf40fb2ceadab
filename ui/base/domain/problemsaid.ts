import type { ProblemDocument, Said } from "./problemtypes";
import { german } from "./problemwords";
import { fill, type Text } from "./words";

type Value = NonNullable<ProblemDocument["values"]>[number];

interface Sentences {
  said: Text;
  help?: Text;
}

const reasons: Record<string, Sentences> = german.reasons;
const codes: Record<string, Text> = german.codes;

/** Returns a problem's sentences in German: those of its reason, else the server's behind the sentence of its code. */
export function problemInGerman({ reason, code, values = [], detail, remedy, status }: ProblemDocument): Said {
  const sentences = reason !== undefined && Object.hasOwn(reasons, reason) ? reasons[reason] : undefined;
  if (sentences) {
    const filling = Object.fromEntries(values.map((value) => [value.name, written(value)]));
    const help = sentences.help ? fill(sentences.help, "de", filling) : remedy;
    // A sentence begins with its {field}, which may be missing.
    const title = fill(sentences.said, "de", filling).replace(/^[: ]+/, "");
    return { title, ...(help ? { remedy: help } : {}) };
  }
  // The page itself says a problem without an answer, in its language.
  const about = status > 0 && Object.hasOwn(codes, code) ? codes[code] : undefined;
  return { title: about ? fill(about, "de", { text: detail }) : detail, ...(remedy ? { remedy } : {}) };
}

/** The units of bytes and of seconds, each with how many make one of the next. */
const units: Partial<Record<Value["kind"], [unit: string, most: number][]>> = {
  bytes: [
    ["bytes", 1024],
    ["KiB", 1024],
    ["MiB", 1024],
    ["GiB", Number.POSITIVE_INFINITY],
  ],
  seconds: [
    ["s", 60],
    ["min", 60],
    ["h", Number.POSITIVE_INFINITY],
  ],
};

/** Returns a value as German writes it; a count stays a number, because it may choose among the forms of a sentence. */
function written({ kind, text = "", number = 0 }: Value): string | number {
  if (kind === "text") return text;
  if (kind === "usd") return number.toLocaleString("de", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  let rest = number;
  for (const [unit, most] of units[kind] ?? []) {
    if (rest < most) return `${rest.toLocaleString("de", { maximumFractionDigits: 1 })} ${unit}`;
    rest /= most;
  }
  return rest;
}
