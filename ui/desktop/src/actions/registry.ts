import type { Win } from "../domain/windows";
import { snapByKey } from "../domain/wmdrag";
import { onDesktop, roundFrom } from "../domain/wmorder";
import type { en } from "../i18n/en";
import type { Session } from "../session/session";
import type { State } from "../state/store";
import { isFramed, tellShell } from "../transport/shell";

/** Where an action is performed. */
export interface Here {
  session: Session;
  state: State;
  /** The window that has the focus. */
  win: Win | undefined;
}

/** Something a person can do, from a key, the launcher or a menu. */
export interface Action {
  id: string;
  title: keyof typeof en;
  /** What stands for {n} in the title. */
  n?: number;
  keys?: string;
  /** False when it makes no sense now. */
  when(here: Here): boolean;
  run(here: Here): void | Promise<void>;
}

const always = () => true;
const focused = ({ win }: Here) => win !== undefined;

/** What is done with the window that has the focus. */
const ofWindow: Action[] = [
  {
    id: "window.close",
    title: "close",
    keys: "Ctrl+Alt+W",
    when: focused,
    run: ({ session, win }) => win && session.windows.close(win.id),
  },
  {
    id: "window.minimise",
    title: "minimise",
    keys: "Ctrl+Alt+M",
    when: focused,
    run: ({ session, win }) => win && session.windows.minimise(win.id),
  },
  {
    id: "window.maximise",
    title: "maximiseOrRestore",
    keys: "Ctrl+Alt+Enter",
    when: focused,
    run: ({ session, win }) =>
      win && (win.state === "normal" ? session.windows.maximise(win.id) : session.windows.restore(win.id)),
  },
  ...(["left", "right", "up", "down"] as const).map(
    (way): Action => ({
      id: `window.snap.${way}`,
      title: ({ left: "snapKeyLeft", right: "snapKeyRight", up: "snapKeyUp", down: "snapKeyDown" } as const)[way],
      keys: `Ctrl+Alt+${way[0]?.toUpperCase()}${way.slice(1)}`,
      when: focused,
      run: ({ session: { windows }, win }) => {
        if (!win) return;
        const to = snapByKey(win, way);
        if (to === "maximised") windows.maximise(win.id);
        else if (to === "normal") windows.restore(win.id);
        else if (to === "minimised") windows.minimise(win.id);
        else windows.snap(win.id, to);
      },
    }),
  ),
  {
    id: "window.move",
    title: "moveByKeys",
    keys: "Ctrl+Alt+G",
    when: ({ win }) => win?.state === "normal",
    run: ({ state, win }) => win && state.setByKeys({ window: win.id, how: "move" }),
  },
  {
    id: "window.resize",
    title: "resizeByKeys",
    keys: "Ctrl+Alt+S",
    when: ({ win }) => win?.state === "normal",
    run: ({ state, win }) => win && state.setByKeys({ window: win.id, how: "resize" }),
  },
];

const numbers = [0, 1, 2, 3, 4, 5, 6, 7];

const ofDesktops: Action[] = [
  ...numbers.map(
    (n): Action => ({
      id: `desktop.go.${n + 1}`,
      title: "desktopN",
      n: n + 1,
      keys: `Ctrl+Alt+${n + 1}`,
      when: ({ state }) => n < state.desktops && n !== state.desktop,
      run: ({ session }) => session.windows.goTo(n),
    }),
  ),
  ...numbers.map(
    (n): Action => ({
      id: `window.desktop.${n + 1}`,
      title: "toDesktop",
      n: n + 1,
      keys: `Ctrl+Alt+Shift+${n + 1}`,
      when: ({ state, win }) => win !== undefined && n < state.desktops && n !== (win.desktop ?? 0),
      run: ({ session, win }) => win && session.windows.toDesktop(win.id, n),
    }),
  ),
];

function goRound({ session, state }: Here, step: 1 | -1): void {
  const next = roundFrom(state.windows, state.desktop, step);
  if (next) session.windows.focus(next.id);
}

/** All that can be done from anywhere. */
export const actions: readonly Action[] = [
  {
    id: "launcher",
    title: "launcher",
    keys: "Ctrl+K",
    when: always,
    run: ({ state }) => state.setPanel(state.panel === "launcher" ? undefined : "launcher"),
  },
  {
    id: "prompt.focus",
    title: "writePrompt",
    keys: "Ctrl+J",
    when: always,
    run: () => document.getElementById("prompt")?.focus(),
  },
  {
    id: "shell.focus",
    title: "toShell",
    keys: "Ctrl+Alt+B",
    when: isFramed,
    run: () => tellShell({ kind: "leave" }),
  },
  {
    id: "run.stop",
    title: "stopRun",
    keys: "Ctrl+.",
    when: ({ session }) => session.openRun() !== undefined,
    run: ({ session }) => session.stopRun(),
  },
  { id: "window.next", title: "nextWindow", keys: "Ctrl+Alt+N", when: focusable, run: (here) => goRound(here, 1) },
  {
    id: "window.previous",
    title: "previousWindow",
    keys: "Ctrl+Alt+P",
    when: focusable,
    run: (here) => goRound(here, -1),
  },
  {
    id: "overview",
    title: "overview",
    keys: "Ctrl+Alt+O",
    when: always,
    run: ({ state }) => state.setPanel(state.panel === "overview" ? undefined : "overview"),
  },
  {
    id: "desktop.show",
    title: "showDesktop",
    keys: "Ctrl+Alt+D",
    when: ({ state }) => state.windows.length > 0,
    run: ({ session }) => session.windows.showDesktop(),
  },
  ...ofWindow,
  ...ofDesktops,
  { id: "keys", title: "keys", keys: "Ctrl+/", when: always, run: ({ state }) => state.setPanel("keys") },
  { id: "checkpoint", title: "makeCheckpoint", when: always, run: ({ session }) => session.checkpoint() },
];

function focusable({ state }: Here): boolean {
  return onDesktop(state.windows, state.desktop).length > 0;
}
