import { useEffect, useRef, useState } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { OfferButton } from "../../actions/OfferButton";
import { useWords } from "../../i18n/words";
import { isTypingBeside } from "../../kit/keyboard";
import { nextTask } from "../../kit/nextTask";
import { useStore } from "../../state/store";
import type { End } from "../../transport/terminals";
import { words } from "./i18n";
import type { LinkState, Status } from "./link";
import { SearchBar } from "./SearchBar";
import type { Screen } from "./screen";

const fetchScreen = () => import("./screen");
// It is fetched while the terminals are asked for; a failure is shown in its place.
fetchScreen().catch(() => undefined);

/** How many lines an agent is shown of a terminal. */
const LAST = 200;

interface Props {
  id: ID;
  title: string;
  focused: boolean;
  searching: boolean;
  reader: boolean;
  /** What stands above a screen that is only looked at; nothing for one that takes keys. */
  head: React.ReactNode;
  isOurs(e: KeyboardEvent): boolean;
  onTitle(title: string): void;
  onEnd(end: End): void;
  onSearched(): void;
}

/** The screen of one terminal, with what is to be known of it below. */
export function Shell({ id, title, focused, searching, reader, head, isOurs, onTitle, onEnd, onSearched }: Props) {
  const t = useWords(words);
  const readOnly = !!head;
  const host = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<Screen>();
  const [state, setState] = useState<LinkState>("connecting");
  const [status, setStatus] = useState<Status>();
  const [failure, setFailure] = useState<unknown>();
  const [tooFast, setTooFast] = useState(false);
  const theme = useStore((s) => s.theme);
  const newest = useRef({ t, title, isOurs, onTitle, onEnd });
  newest.current = { t, title, isOurs, onTitle, onEnd };

  useEffect(() => {
    const box = host.current;
    if (!box) return;
    let made: Screen | undefined;
    let gone = false;
    const hears = {
      onState: setState,
      onStatus: setStatus,
      onEnd: (end: End) => newest.current.onEnd(end),
      onTitle: (called: string) => newest.current.onTitle(called),
      onTooFast: () => setTooFast(true),
      isOurs: (e: KeyboardEvent) => newest.current.isOurs(e),
      missed: (n: number) => newest.current.t("missed", { n }),
    };
    const make = async () => {
      // Its cells are measured with the font they are drawn in; without it they are drawn in another.
      const font = document.fonts.load(`14px ${getComputedStyle(box).fontFamily}`).catch(() => undefined);
      const [module] = await Promise.all([fetchScreen(), font]);
      await nextTask();
      if (gone) return;
      made = new module.Screen(id, box, hears, newest.current.t("screen", { title: newest.current.title }), readOnly);
      setScreen(made);
    };
    make().catch(setFailure);
    return () => {
      gone = true;
      made?.stop();
      setScreen(undefined);
    };
  }, [id, readOnly]);

  useEffect(() => {
    // Whoever types elsewhere goes on typing there: a demo, and another browser, open terminals too.
    if (screen && focused && !searching && !isTypingBeside(host.current)) screen.focus();
  }, [screen, focused, searching]);
  useEffect(() => screen?.read(reader), [screen, reader]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme decides about the colours that are read
  useEffect(() => {
    screen?.dress();
    const system = matchMedia("(prefers-color-scheme: dark)");
    const dress = () => screen?.dress();
    system.addEventListener("change", dress);
    return () => system.removeEventListener("change", dress);
  }, [screen, theme]);

  if (failure) throw failure;
  return (
    <div className="terminal-shell" id={`terminal-${id}`} role="tabpanel" aria-label={title}>
      {head}
      {searching && screen && <SearchBar screen={screen} onDone={onSearched} />}
      {state === "lost" && (
        <p className="terminal-lost" role="status">
          {t("lost")}
        </p>
      )}
      {tooFast && (
        <p className="terminal-lost" role="alert">
          {t("tooFast")}
        </p>
      )}
      <div className="terminal-room">
        <div className="terminal-host" ref={host} data-link={state} />
      </div>
      <footer className="app-status">
        <span>{state !== "ended" && t(state === "live" ? "live" : "connecting")}</span>
        <span>
          {status && status.viewers > 1 && `${t(status.lead ? "leads" : "viewers", { n: status.viewers })} · `}
          {status && t("size", { cols: status.size.cols, rows: status.size.rows })}
        </span>
        {screen && <OfferButton matter={() => ({ kind: "terminal", title, output: screen.lastLines(LAST) })} />}
      </footer>
    </div>
  );
}
