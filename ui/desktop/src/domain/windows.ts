import type { Event, ID } from "#base/domain/contracts.ts";
import type { Schema } from "#base/domain/operations.ts";
import { appIdOf } from "./appid";

/** A window as the server keeps it. Its bounds are those it has when normal. */
export type Win = Schema<"EventstoreWindow">;

/** How a window is shown. */
export type WindowState = Win["state"];

/** The part of the desktop that a snapped window fills. */
export type Snap = NonNullable<Win["snap"]>;

/** The part of a subject that people read: a path, a search, a port; "" for one that is only an id. */
export function placeIn(subject: string): string {
  return /^(document|run|terminal|moment|demo|demo-seen):/.test(subject) ? "" : subject;
}

/**
 * Windows by id, with the event each is known up to. A closed one stays known
 * as such, or a late answer about it would bring it back.
 */
export type Known = ReadonlyMap<ID, { win: Win | undefined; seq: number }>;

/** What the server said of the whole desktop after event `seq`; what is known from later events stays. */
export function knownFrom(windows: readonly Win[], seq: number, before: Known = new Map()): Known {
  const later = [...before].filter(([, there]) => there.seq > seq);
  return new Map([...windows.map((win) => [win.id, { win: ofNow(win), seq }] as const), ...later]);
}

/** What the server said of one window after event `seq`; undefined when it is gone. */
export function learn(known: Known, id: ID, win: Win | undefined, seq: number): Known {
  const there = known.get(id);
  if (there && there.seq > seq) return known;
  return new Map(known).set(id, { win: win && ofNow(win), seq });
}

/** A window under the id that its app has now. */
function ofNow(win: Win): Win {
  const app = appIdOf(win.app);
  return app === win.app ? win : { ...win, app };
}

/** The windows after one more event; one that is known already changes nothing. */
export function reduceWindows(known: Known, event: Event): Known {
  if (!event.type.startsWith("window.")) return known;
  const id = (event.payload as { window: ID }).window;
  const there = known.get(id);
  if (there && event.seq <= there.seq) return known;
  if (event.type === "window.closed") return learn(known, id, undefined, event.seq);
  const win =
    event.type === "window.opened" ? opened(id, event.payload, event.seq) : there?.win && changed(there.win, event);
  return win ? learn(known, id, win, event.seq) : known;
}

/** A window as event `seq` opens it. */
export function opened(id: ID, p: Pick<Win, "app" | "title" | "subject" | "bounds" | "desktop">, seq: number): Win {
  return {
    id,
    app: p.app,
    title: p.title ?? "",
    subject: p.subject ?? "",
    bounds: p.bounds,
    desktop: p.desktop ?? 0,
    state: "normal",
    focused_seq: seq,
  };
}

function changed(win: Win, event: Event): Win {
  switch (event.type) {
    case "window.moved":
      return { ...win, bounds: event.payload.bounds, desktop: event.payload.desktop ?? 0 };
    case "window.shown": {
      const { snap: _, was: __, ...rest } = win;
      const { state, snap, was } = event.payload;
      return { ...rest, state, ...(snap ? { snap } : {}), ...(was ? { was } : {}) };
    }
    case "window.retitled":
      return { ...win, title: event.payload.title ?? "", subject: event.payload.subject ?? "" };
    case "window.focused":
      return { ...win, focused_seq: event.seq };
    default:
      return win;
  }
}

/** The windows, the lowest first. */
export function stacked(windows: Iterable<Win>): Win[] {
  return [...windows].sort((a, b) => a.focused_seq - b.focused_seq);
}

/** What restoring a minimised window gives. */
export function restoredOf(win: Win): Win {
  const { was, ...rest } = win;
  return win.state === "minimised" ? { ...rest, state: was ?? "normal" } : withoutSnap({ ...rest, state: "normal" });
}

/** A window that is hidden, and remembers how it was shown. */
export function minimisedOf(win: Win): Win {
  if (win.state === "minimised") return win;
  return { ...win, state: "minimised", was: win.state };
}

/** A window that fills its desktop. */
export function maximisedOf(win: Win): Win {
  const { was: _, ...rest } = win;
  return withoutSnap({ ...rest, state: "maximised" });
}

/** A window that fills a part of its desktop. */
export function snappedOf(win: Win, snap: Snap): Win {
  const { was: _, ...rest } = win;
  return { ...rest, state: "snapped", snap };
}

function withoutSnap(win: Win): Win {
  const { snap: _, ...rest } = win;
  return rest;
}
