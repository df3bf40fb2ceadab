import { notifyProblem } from "#base/kit/notify.ts";
import { lastName, namedBy } from "../domain/named";
import { deskWords } from "../i18n/desk";
import type { en } from "../i18n/en";
import { say } from "../i18n/words";
import { openNewDocument } from "../session/newDocument";
import type { Session } from "../session/session";
import { useStore } from "../state/store";
import { files } from "../transport/files";

/** Something that ? in the prompt does. */
export interface Command {
  id: string;
  /** What is typed after the question mark. */
  word: string;
  title: keyof typeof en;
  run(session: Session, rest: string): void | Promise<void>;
}

/** All commands of the prompt. */
export const commands: readonly Command[] = [
  { id: "new", word: "new", title: "commandNew", run: ({ windows }, rest) => openNewDocument(windows, rest) },
  { id: "open", word: "open", title: "commandOpen", run: ({ windows }, rest) => openNamed(windows, rest) },
  {
    id: "search",
    word: "search",
    title: "commandSearch",
    run: ({ windows }, rest) => windows.open("files", `search:${rest}`),
  },
  { id: "demo", word: "demo", title: "showDemo", run: ({ demo }) => demo.start() },
  { id: "settings", word: "settings", title: "commandSettings", run: ({ windows }) => windows.open("settings") },
  { id: "help", word: "help", title: "commandHelp", run: () => useStore.getState().setPanel("keys") },
];

/** What is no path, but the name of something else that opens. */
const KINDS = /^(document|run|search|trash|terminal|moment|localhost):/;

async function openNamed(windows: Session["windows"], rest: string): Promise<void> {
  if (!rest) return useStore.getState().setPanel("launcher");
  if (KINDS.test(rest)) return windows.openSubject(rest);
  const { language } = useStore.getState();
  try {
    // One that cannot be found by its name, because too many have it, is there all the same.
    const { found, cut } = await files.find({ name: lastName(rest), limit: 1000 });
    const named = namedBy(
      rest,
      found.map(({ file }) => file),
    );
    if (named.is === "there") return await windows.openSubject(named.subject);
    if (cut) return await windows.openSubject(rest);
    const paths = named.is === "several" ? named.paths.slice(0, 4).join(", ") : "";
    notifyProblem(new Error(say(deskWords, language, paths ? "openSeveral" : "openMissing", { path: rest, paths })));
  } catch (error) {
    notifyProblem(error);
  }
  // For whoever mistyped it.
  const { putWords, repo } = useStore.getState();
  putWords({ text: `?open ${rest}`, repo, over: false });
}

/** The commands that fit what was typed, and what follows their word. */
export function matching(typed: string, titleOf: (command: Command) => string): { command: Command; rest: string }[] {
  const [word = "", ...more] = typed.trimStart().split(/\s+/);
  const low = word.toLowerCase();
  return commands
    .filter((c) => c.word.startsWith(low) || titleOf(c).toLowerCase().includes(low))
    .map((command) => ({ command, rest: more.join(" ").trim() }));
}
