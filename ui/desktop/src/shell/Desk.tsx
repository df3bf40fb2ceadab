import { useEffect, useRef } from "react";
import { LiveRegion } from "#base/kit/LiveRegion.tsx";
import { Messages } from "#base/kit/Messages.tsx";
import { useHotkeys } from "../actions/useActions";
import { appOf } from "../apps/registry";
import { deskWords } from "../i18n/desk";
import { useNamed, useWords } from "../i18n/words";
import { keepKeyboard, SKIP } from "../kit/keyboard";
import { late } from "../kit/late";
import { useSession } from "../session/session";
import { useLook } from "../session/useLook";
import { useStore } from "../state/store";
import { isFramed, tellShell } from "../transport/shell";
import { Bar } from "./Bar";
import { Stage } from "./Stage";
import { useArea } from "./useArea";
import "#base/kit/toast.css";
import "./desk.css";

const Launcher = late(() => import("./Launcher"));
const Overview = late(() => import("./Overview"));
const Keys = late(() => import("./Keys"));
const Closing = late(() => import("./Closing"));

/** Toasts are beside the other messages of the page, below what windows are closed with, and leave the bar free. */
const ABOVE = { bottom: "calc(var(--bar-height) + 16px)", right: 16 };

const focusShell = () => tellShell({ kind: "leave" });

/** Wallpaper, windows, and the bar with the prompt. */
export function Desk() {
  const panel = useStore((s) => s.panel);
  const closing = useStore((s) => s.closing);
  const announced = useStore((s) => s.announced);
  const page = useRef<HTMLElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const t = useWords(deskWords);
  useHotkeys();
  useLook();
  useArea(area);
  useTelling();
  useWantedPrompt();
  useEffect(() => (page.current ? keepKeyboard(page.current) : undefined), []);
  useLeaving();
  return (
    <main className="desk" ref={page}>
      {isFramed() && (
        <button type="button" className="skip" id={SKIP} onClick={focusShell}>
          {t("toShell")}
        </button>
      )}
      <h1 className="visually-hidden">{t("desktop")}</h1>
      <div className="desk-area" ref={area}>
        <Stage />
      </div>
      <Bar />
      {panel === "launcher" && <Launcher />}
      {panel === "overview" && <Overview />}
      {panel === "keys" && <Keys />}
      {closing && <Closing id={closing} />}
      <LiveRegion lines={announced} />
      <Messages
        position="bottom-right"
        closeButton
        offset={ABOVE}
        mobileOffset={ABOVE}
        containerAriaLabel={t("messages")}
        toastOptions={{ closeButtonAriaLabel: t("closeMessage") }}
      />
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

/** What is typed is sent when the page is left; the browser asks when that cannot be. */
function useLeaving(): void {
  const { drafts } = useSession();
  useEffect(() => {
    const confirmLeaving = (e: BeforeUnloadEvent) => drafts.lastWords() || e.preventDefault();
    // The shell takes the frame of this page out of its own without asking it.
    const gone = () => drafts.lastWords();
    addEventListener("beforeunload", confirmLeaving);
    addEventListener("pagehide", gone);
    return () => {
      removeEventListener("beforeunload", confirmLeaving);
      removeEventListener("pagehide", gone);
    };
  }, [drafts]);
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
