import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp, Check } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef } from "react";
import type { Rect } from "#base/domain/contracts.ts";
import { appOf } from "../apps/registry";
import type { Win } from "../domain/windows";
import { KEY_STEP, LEAST, movedBy, resizedBy } from "../domain/wmdrag";
import { fitted } from "../domain/wmplace";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { useSession } from "../session/session";
import { useStore } from "../state/store";

const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as const;
const icons = { ArrowLeft, ArrowRight, ArrowUp, ArrowDown };
type Way = keyof typeof ways;

/** Moving and resizing by arrow keys, or by pressing arrows: no drag is needed for either. */
export function ByKeys({ win }: { win: Win }) {
  const mode = useStore((s) => (s.byKeys?.window === win.id ? s.byKeys.how : undefined));
  return mode ? <Arrows win={win} how={mode} /> : null;
}

function Arrows({ win, how }: { win: Win; how: "move" | "resize" }) {
  const { windows } = useSession();
  const setByKeys = useStore((s) => s.setByKeys);
  const want = useStore((s) => s.want);
  const t = useWords(deskWords);
  const box = useRef<HTMLFieldSetElement>(null);
  const before = useRef<Rect>(win.bounds);
  useEffect(() => box.current?.focus(), []);
  const go = (way: Way, fine: boolean) => {
    const { area } = useStore.getState();
    const [x, y] = ways[way];
    const step = fine ? 1 : KEY_STEP;
    const least = appOf(win.app)?.least ?? LEAST;
    const drawn = fitted(win.bounds, area);
    const next =
      how === "move"
        ? movedBy(drawn, x * step, y * step, area)
        : resizedBy(drawn, "se", x * step, y * step, least, area);
    windows.move(win.id, next);
  };
  const done = () => {
    setByKeys(undefined);
    want(win.id);
  };
  const press = (e: KeyboardEvent) => {
    if (e.key in ways) go(e.key as Way, e.shiftKey);
    else if (e.key === "Escape") {
      windows.move(win.id, before.current);
      done();
    } else if (e.key === "Enter" && e.target === e.currentTarget) done();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <fieldset
      className="by-keys"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes the arrow keys
      tabIndex={0}
      aria-label={t(how === "move" ? "moveHint" : "resizeHint")}
      onKeyDown={press}
    >
      <p>{t(how === "move" ? "moveHint" : "resizeHint")}</p>
      <div className="by-keys-row">
        {(Object.keys(ways) as Way[]).map((way) => {
          const Icon = icons[way];
          return (
            <button
              key={way}
              type="button"
              className="title-button"
              aria-label={way.slice(5)}
              onClick={() => go(way, false)}
            >
              <Icon size={17} aria-hidden />
            </button>
          );
        })}
        <button type="button" className="title-button" aria-label={t("close")} onClick={done}>
          <Check size={17} aria-hidden />
        </button>
      </div>
    </fieldset>
  );
}
