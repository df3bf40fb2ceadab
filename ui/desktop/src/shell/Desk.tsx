import { useEffect, useRef } from "react";
import { Toaster } from "sonner";
import { useHotkeys } from "../actions/useActions";
import { useSession } from "../app/session";
import { useLook } from "../app/useLook";
import { appOf } from "../apps/registry";
import { deskWords } from "../i18n/desk";
import { useNamed, useWords } from "../i18n/words";
import { late } from "../kit/late";
import { useStore } from "../state/store";
import { Bar } from "./Bar";
import { Stage } from "./Stage";
import { useArea } from "./useArea";
import "#base/kit/toast.css";
import "./desk.css";

const Launcher = late(() => import("./Launcher"));
const Overview = late(() => import("./Overview"));
const Keys = late(() => import("./Keys"));

/** Wallpaper, windows, and the bar with the prompt. */
export function Desk() {
  const panel = useStore((s) => s.panel);
  const announced = useStore((s) => s.announced);
  const area = useRef<HTMLDivElement>(null);
  const t = useWords(deskWords);
  useHotkeys();
  useLook();
  useArea(area);
  useTelling();
  useWantedPrompt();
  return (
    <main className="desk">
      <h1 className="visually-hidden">{t("desktop")}</h1>
      <div className="desk-area" ref={area}>
        <Stage />
      </div>
      <Bar />
      {panel === "launcher" && <Launcher />}
      {panel === "overview" && <Overview />}
      {panel === "keys" && <Keys />}
      <p className="visually-hidden" role="status" aria-live="polite">
        {announced}
      </p>
      <Toaster position="top-right" closeButton offset={16} />
    </main>
  );
}

const sayings = {
  opened: "saidOpened",
  closed: "saidClosed",
  minimised: "saidMinimised",
  maximised: "saidMaximised",
  restored: "saidRestored",
  snapped: "saidSnapped",
} as const;

/** What becomes of windows is said to those who do not see it. */
function useTelling(): void {
  const { windows } = useSession();
  const announce = useStore((s) => s.announce);
  const t = useWords(deskWords);
  const named = useNamed();
  useEffect(() => {
    windows.tell = (what, win) => {
      const app = appOf(win.app);
      announce(t(sayings[what], { title: win.title || (app ? named(app.title) : win.app) }));
    };
  });
}

/** With no window left the keyboard is at the prompt. */
function useWantedPrompt(): void {
  const wanted = useStore((s) => s.wanted);
  const want = useStore((s) => s.want);
  useEffect(() => {
    if (wanted !== null) return;
    document.getElementById("prompt")?.focus();
    want(undefined);
  }, [wanted, want]);
}
