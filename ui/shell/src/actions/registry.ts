import type { LucideIcon } from "lucide-react";
import { AppWindow, Camera, History, KeyRound, LifeBuoy, ListTree, MessageCircle, OctagonX, Play } from "lucide-react";
import { names } from "#base/domain/names.ts";
import { isOpen, type Run } from "#base/domain/views.ts";
import { named } from "#base/domain/words.ts";
import type { Session } from "../session/session";
import type { State } from "../state/store";
import { t } from "../words/words";

/** Something a person can do, from a key, the launcher or a button. */
export interface Action {
  id: string;
  /** What it is called in the language of the page. */
  readonly title: string;
  icon: LucideIcon;
  /** As it is written on the key; Ctrl is Cmd on a Mac. */
  keys?: string;
  /** False when it makes no sense now. */
  when(state: State): boolean;
  run(session: Session, state: State): Promise<void> | void;
}

/** The run that is shown and still works; with the desktop, the newest that works. */
export function openRun(state: State): Run | undefined {
  const { route } = state;
  if (route.page === "desktop") return state.runs.find((r) => isOpen(r.state));
  return route.page === "run" ? state.runs.find((r) => r.id === route.run && isOpen(r.state)) : undefined;
}

/** All that can be done from anywhere. */
export const actions: readonly Action[] = [
  {
    id: "run.stop",
    get title() {
      return t("launcher.stopRun");
    },
    icon: OctagonX,
    keys: "Ctrl+.",
    when: (s) => openRun(s) !== undefined,
    run: (session, s) => {
      const run = openRun(s);
      return run && session.api.cancel(run.id);
    },
  },
  {
    id: "desktop",
    get title() {
      return t("launcher.toDesktop");
    },
    icon: AppWindow,
    when: (s) => s.route.page !== "desktop",
    run: (session) => session.go({ page: "desktop" }),
  },
  {
    id: "prompt.focus",
    get title() {
      return t("launcher.writePrompt");
    },
    icon: MessageCircle,
    keys: "Ctrl+J",
    when: (s) => s.route.page === "runs" || s.route.page === "run",
    run: () => document.getElementById("prompt")?.focus(),
  },
  {
    id: "demo.play",
    get title() {
      return t("launcher.playDemo");
    },
    icon: Play,
    when: () => true,
    run: (session) => session.demo(),
  },
  {
    id: "checkpoint.make",
    get title() {
      return t("launcher.checkpoint");
    },
    icon: Camera,
    when: () => true,
    run: (session) => session.checkpoint(),
  },
  {
    id: "time.look",
    get title() {
      return t("launcher.openTimeline");
    },
    icon: History,
    when: (s) => s.route.page !== "time",
    run: (session) => session.go({ page: "time" }),
  },
  {
    id: "recover",
    get title() {
      return t("launcher.recover");
    },
    icon: LifeBuoy,
    when: (s) => s.route.page !== "recover",
    run: (session) => session.go({ page: "recover" }),
  },
  {
    id: "models",
    get title() {
      return t("launcher.models", { models: named(names.models) });
    },
    icon: KeyRound,
    when: (s) => s.route.page !== "models",
    run: (session) => session.go({ page: "models", section: "models" }),
  },
  {
    id: "runs",
    get title() {
      return t("launcher.toRuns", { runs: named(names.runs) });
    },
    icon: ListTree,
    when: (s) => s.route.page !== "runs",
    run: (session) => session.go({ page: "runs" }),
  },
];

/** The action a key press means, of those that make sense now. */
export function actionFor(
  key: { key: string; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean; altKey: boolean },
  state: State,
): Action | undefined {
  if (!(key.ctrlKey || key.metaKey) || key.shiftKey || key.altKey) return undefined;
  return actions.find((a) => a.keys?.toLowerCase() === `ctrl+${key.key.toLowerCase()}` && a.when(state));
}

/** Entries whose words all occur in the title, best first: those that begin with what was typed. */
export function search<T extends { title: string }>(entries: readonly T[], typed: string): T[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter((e) => words.every((w) => e.title.toLowerCase().includes(w)));
  const begins = (e: T) => (words[0] && e.title.toLowerCase().startsWith(words[0]) ? 0 : 1);
  return found.sort((a, b) => begins(a) - begins(b));
}
