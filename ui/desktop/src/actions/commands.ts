import type { Session } from "../app/session";
import type { en } from "../i18n/en";
import { useStore } from "../state/store";

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
  { id: "new", word: "new", title: "commandNew", run: ({ windows }, rest) => windows.open("writer", "", rest) },
  { id: "open", word: "open", title: "commandOpen", run: ({ windows }, rest) => openNamed(windows, rest) },
  {
    id: "search",
    word: "search",
    title: "commandSearch",
    run: ({ windows }, rest) => windows.open("files", `search:${rest}`),
  },
  { id: "settings", word: "settings", title: "commandSettings", run: ({ windows }) => windows.open("settings") },
  { id: "help", word: "help", title: "commandHelp", run: () => useStore.getState().setPanel("keys") },
];

function openNamed(windows: Session["windows"], rest: string): void | Promise<void> {
  if (rest) return windows.openSubject(rest);
  useStore.getState().setPanel("launcher");
}

/** The commands that fit what was typed, and what follows their word. */
export function matching(typed: string, titleOf: (command: Command) => string): { command: Command; rest: string }[] {
  const [word = "", ...more] = typed.trimStart().split(/\s+/);
  const low = word.toLowerCase();
  return commands
    .filter((c) => c.word.startsWith(low) || titleOf(c).toLowerCase().includes(low))
    .map((command) => ({ command, rest: more.join(" ").trim() }));
}
