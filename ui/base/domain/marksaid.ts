import { spoken } from "./language";
import { markWords } from "./markwords";
import { names } from "./names";
import { capital } from "./problem";
import type { DesktopChange, Mark } from "./views";
import { fill, type Named, type Text } from "./words";

type Sentence = keyof typeof markWords.en;

/** A mark as far as its sentence needs it. */
export type Tellable = Pick<Mark, "kind" | "text" | "told" | "files">;

/** What happened at a mark, in the language of the page; in the words of the log for a sentence that this page does not know. */
export function markSaid({ kind, text, told, files = 0 }: Tellable): string {
  if (!Object.hasOwn(markWords.en, told.sentence)) return capital(text);
  const unnamed = say(kind === "document" ? "aDocument" : "aWindow");
  // A window without a title is named by its app.
  const titles: Readonly<Record<string, { en: string; de: string }>> = kind === "windows" ? names : {};
  const named =
    (told.about ?? []).map((name) => titles[name]?.[spoken()] ?? (name || unnamed)).join(", ") || say("nothing");
  const about = told.more ? say("andMore", { text: named, n: told.more }) : named;
  const said = say(told.sentence as Sentence, { text: about, n: files, tool: told.tool ?? "" });
  // A name at the head of a sentence stays as it is written.
  return told.about?.[0] === "" ? capital(said) : said;
}

/** How a window or setting differs at another moment, in the language of the page. */
export function changeSaid({ change, app = "", title, key = "", from, to }: DesktopChange): string {
  const quoted = (text: string) => say("quoted", { text });
  if (change === "set") {
    const unset = say("theDefault");
    return capital(say("settingSet", { text: key, from: from || unset, to: to || unset }));
  }
  const name = (names as Readonly<Record<string, Named>>)[app] ?? { en: app, de: app };
  const text = title && title !== name.en ? `${name[spoken()]} ${quoted(title)}` : name[spoken()];
  return capital(say(WINDOW_CHANGES[change], { text, to: to ? quoted(to) : say("somethingElse") }));
}

const WINDOW_CHANGES = {
  opened: "windowOpened",
  closed: "windowClosed",
  moved: "windowMoved",
  minimised: "windowMinimised",
  maximised: "windowMaximised",
  snapped: "windowSnapped",
  restored: "windowRestored",
  shows: "windowShows",
} as const satisfies Record<Exclude<DesktopChange["change"], "set">, Sentence>;

function say(sentence: Sentence, values: Record<string, string | number> = {}): string {
  const text: Text = markWords[spoken()][sentence];
  return fill(text, spoken(), values);
}
