import { type PointerEvent as ReactPointerEvent, useRef, useState } from "react";
import type { Rect } from "#base/domain/contracts.ts";
import { appOf } from "../apps/registry";
import type { Snap, Win } from "../domain/windows";
import { LEAST, movedBy, pulledOff, resizedBy, type Side, snapAt } from "../domain/wmdrag";
import { partOf, placed } from "../domain/wmplace";
import { useSession } from "../session/session";
import { useStore } from "../state/store";

/** Pixels a pointer moves before it is a drag and no click. */
const SLACK = 4;

interface Point {
  x: number;
  y: number;
}

/** Moving and resizing by pointer. `live` is where the window is meanwhile. */
export function useDrag(win: Win) {
  const { windows } = useSession();
  const [live, setLive] = useState<Rect>();
  const now = useRef<Rect>(undefined);

  const put = (bounds: Rect) => {
    now.current = bounds;
    setLive(bounds);
    windows.move(win.id, bounds, true);
  };
  const drop = (snap: Snap | "maximised" | undefined) => {
    const bounds = now.current;
    now.current = undefined;
    setLive(undefined);
    useStore.getState().setPreview(undefined);
    if (!bounds) return;
    // Where it was before the edge is where restoring brings it back to.
    if (snap === "maximised") windows.maximise(win.id);
    else if (snap) windows.snap(win.id, snap);
    else windows.move(win.id, bounds);
  };

  const grabBar = (e: ReactPointerEvent<HTMLElement>) => {
    const { area, setPreview } = useStore.getState();
    const drawn = placed(win, area);
    if (!drawn || e.button !== 0) return;
    const origin = originOf(e.currentTarget);
    const grabbed = inArea(e, origin);
    let begin: Rect | undefined = win.state === "normal" ? drawn : undefined;
    let snap: Snap | "maximised" | undefined;
    follow(e, {
      move(to) {
        begin ??= movedBy(pulledOff(win, drawn, grabbed, area), 0, 0, area);
        const pointer = inArea(to, origin);
        put(movedBy(begin, pointer.x - grabbed.x, pointer.y - grabbed.y, area));
        snap = snapAt(pointer.x, pointer.y, area);
        setPreview(snap && (snap === "maximised" ? { x: 0, y: 0, ...area } : partOf(snap, area)));
      },
      end: () => drop(snap),
      cancel: () => {
        if (win.state === "normal") now.current = drawn;
        drop(undefined);
      },
    });
  };

  const grabSide = (e: ReactPointerEvent<HTMLElement>, side: Side) => {
    const { area } = useStore.getState();
    const begin = placed(win, area);
    if (!begin || e.button !== 0) return;
    const from = { x: e.clientX, y: e.clientY };
    const least = appOf(win.app)?.least ?? LEAST;
    follow(e, {
      move: (to) => put(resizedBy(begin, side, to.clientX - from.x, to.clientY - from.y, least, area)),
      end: () => drop(undefined),
      cancel: () => {
        now.current = begin;
        drop(undefined);
      },
    });
  };
  return { live, grabBar, grabSide };
}

function originOf(element: Element): Point {
  const box = element.closest(".desk-area")?.getBoundingClientRect();
  return { x: box?.left ?? 0, y: box?.top ?? 0 };
}

const inArea = (e: { clientX: number; clientY: number }, origin: Point): Point => ({
  x: e.clientX - origin.x,
  y: e.clientY - origin.y,
});

interface Follower {
  move(e: PointerEvent): void;
  end(): void;
  /** Escape was pressed. */
  cancel(): void;
}

/** Follows a pointer from where it was pressed until it is let go. */
function follow(e: ReactPointerEvent<HTMLElement>, follower: Follower): void {
  const handle = e.currentTarget;
  const from = { x: e.clientX, y: e.clientY };
  const pointer = e.pointerId;
  let dragging = false;
  handle.setPointerCapture(pointer);
  const move = (to: PointerEvent) => {
    if (to.pointerId !== pointer) return;
    if (!dragging && Math.hypot(to.clientX - from.x, to.clientY - from.y) < SLACK) return;
    dragging = true;
    follower.move(to);
  };
  const stop = (how: "end" | "cancel") => {
    handle.removeEventListener("pointermove", move);
    handle.removeEventListener("pointerup", up);
    handle.removeEventListener("lostpointercapture", lost);
    document.removeEventListener("keydown", press, true);
    if (handle.hasPointerCapture(pointer)) handle.releasePointerCapture(pointer);
    if (dragging) follower[how]();
  };
  const up = () => stop("end");
  const lost = () => stop("cancel");
  const press = (key: KeyboardEvent) => {
    if (key.key !== "Escape") return;
    key.preventDefault();
    key.stopPropagation();
    stop("cancel");
  };
  handle.addEventListener("pointermove", move);
  handle.addEventListener("pointerup", up);
  handle.addEventListener("lostpointercapture", lost);
  document.addEventListener("keydown", press, true);
}
