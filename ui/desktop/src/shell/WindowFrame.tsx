import { memo, useEffect, useRef } from "react";
import { appOf } from "../apps/registry";
import type { Win } from "../domain/windows";
import { sides } from "../domain/wmdrag";
import { placed } from "../domain/wmplace";
import { useNamed } from "../i18n/words";
import { toWindow } from "../kit/keyboard";
import { useSession } from "../session/session";
import { WindowContext } from "../session/useWindow";
import { useStore } from "../state/store";
import { AppBody } from "./AppBody";
import { ByKeys } from "./ByKeys";
import { TitleBar } from "./TitleBar";
import { useDrag } from "./useDrag";
import "./window.css";

interface Props {
  win: Win;
  /** Its place in the stack from below; undefined on another desktop. */
  level: number | undefined;
  focused: boolean;
  narrow: boolean;
}

/** One window: frame, title bar, handles, and the app in it. */
export const WindowFrame = memo(function WindowFrame({ win, level, focused, narrow }: Props) {
  const { windows } = useSession();
  const area = useStore((s) => s.area);
  const named = useNamed();
  const element = useRef<HTMLElement>(null);
  const drag = useDrag(win);
  const app = appOf(win.app);
  const title = win.title || (app ? named(app.title) : win.app);
  useWanted(win.id, element);
  const at = drag.live ?? placed(win, area);
  const hidden = level === undefined || at === undefined || (narrow && !focused);
  const style = narrow || !at ? undefined : { left: at.x, top: at.y, width: at.width, height: at.height };
  return (
    <section
      ref={element}
      className="window"
      aria-label={title}
      tabIndex={-1}
      data-window={win.id}
      data-app={win.app}
      data-focused={focused}
      data-state={narrow ? "single" : drag.live ? "normal" : win.state}
      data-dragging={drag.live ? true : undefined}
      hidden={hidden}
      style={{ ...style, zIndex: (level ?? 0) + 1 }}
      onPointerDownCapture={() => !focused && windows.focus(win.id)}
    >
      <TitleBar win={win} title={title} icon={app?.icon} focused={focused} narrow={narrow} onGrab={drag.grabBar} />
      <div className="window-body">
        <WindowContext value={win.id}>
          <AppBody app={win.app} />
        </WindowContext>
      </div>
      {focused && <ByKeys win={win} />}
      {!narrow &&
        win.state !== "maximised" &&
        sides.map((side) => (
          <div
            key={side}
            className={`window-handle window-handle-${side}`}
            onPointerDown={(e) => drag.grabSide(e, side)}
          />
        ))}
    </section>
  );
});

/** The keyboard comes in when it was asked for. */
function useWanted(id: string, ref: React.RefObject<HTMLElement | null>): void {
  const wanted = useStore((s) => s.wanted === id);
  const want = useStore((s) => s.want);
  useEffect(() => {
    const element = ref.current;
    if (!wanted || !element) return;
    want(undefined);
    toWindow(element);
  }, [wanted, want, ref]);
}
