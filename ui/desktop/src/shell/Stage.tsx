import { memo } from "react";
import { useTouch } from "#base/kit/useWidth.ts";
import { written } from "../domain/chord";
import { focusedOf, onDesktop } from "../domain/wmorder";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { late } from "../kit/late";
import { isMac } from "../kit/platform";
import { useStore } from "../state/store";
import { past } from "../transport/address";
import { useAtRest } from "./cards/useStack";
import { useNarrow } from "./useNarrow";
import { WindowFrame } from "./WindowFrame";

const Ideas = late(() => import("./Ideas"));

/** All windows of the virtual desktop that is shown. They stay in one order, so that no app is moved in the page. */
export const Stage = memo(function Stage() {
  const windows = useStore((s) => s.windows);
  const desktop = useStore((s) => s.desktop);
  const preview = useStore((s) => s.preview);
  const narrow = useNarrow();
  const here = onDesktop(windows, desktop);
  const focused = focusedOf(windows, desktop);
  const level = new Map(here.map((w, i) => [w.id, i]));
  const inOrder = [...windows].sort((a, b) => (a.id < b.id ? -1 : 1));
  return (
    <>
      {!focused && <Welcome />}
      {inOrder.map((w) => (
        <WindowFrame key={w.id} win={w} level={level.get(w.id)} focused={w.id === focused?.id} narrow={narrow} />
      ))}
      {preview && (
        <div
          className="snap-preview"
          style={{ left: preview.x, top: preview.y, width: preview.width, height: preview.height }}
          aria-hidden
        />
      )}
    </>
  );
});

/** What an empty desktop says: nothing while something is at work. */
function Welcome() {
  const t = useWords(deskWords);
  const rests = useAtRest();
  const touch = useTouch();
  if (!rests && !past) return null;
  return (
    <div className="desk-welcome">
      <p className="desk-welcome-first">{t("welcome")}</p>
      <p>{touch ? t("welcomeTouch") : t("welcomeHint", { keys: written("Ctrl+K", isMac) })}</p>
      {!past && <Ideas />}
    </div>
  );
}
