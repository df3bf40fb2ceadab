import { createContext, useContext, useMemo } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { focusedOf } from "../domain/wmorder";
import { useStore } from "../state/store";
import { useSession } from "./session";

/** The window around an app. */
export interface WindowHandle {
  id: ID;
  app: string;
  /** What it shows: a path, `document:<id>`, `run:<id>`, or nothing. */
  subject: string;
  title: string;
  /** It has the focus. */
  focused: boolean;
  /** Says what it shows now; both are kept on the server. */
  show(subject: string, title?: string): void;
  /** Closes it, without asking for what is typed in it. */
  close(): void;
  /** Gives the keyboard to the content, as after each action. */
  focus(): void;
  /** Opens something else in the app that opens it best, or in the one named. */
  open(subject: string, app?: string): void;
}

export const WindowContext = createContext<ID | undefined>(undefined);

/** The window an app runs in. */
export function useWindow(): WindowHandle {
  const id = useContext(WindowContext);
  if (!id) throw new Error("this part stands outside of a window");
  const { windows } = useSession();
  const win = useStore((s) => s.windows.find((w) => w.id === id));
  const focused = useStore((s) => focusedOf(s.windows, s.desktop)?.id === id);
  const app = win?.app ?? "";
  const subject = win?.subject ?? "";
  const title = win?.title ?? "";
  return useMemo(
    () => ({
      id,
      app,
      subject,
      title,
      focused,
      show: (to, called = "") => windows.retitle(id, called, to),
      close: () => windows.remove(id),
      focus: () => useStore.getState().want(id),
      open: (to, by) => unawaited(by ? windows.open(by, to) : windows.openSubject(to)),
    }),
    [id, app, subject, title, focused, windows],
  );
}
