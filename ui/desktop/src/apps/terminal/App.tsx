import { Accessibility, Search, SquareTerminal } from "lucide-react";
import { useEffect, useState } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { isGone } from "#base/domain/problem.ts";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { isChord } from "../../domain/chord";
import { useWords } from "../../i18n/words";
import { Empty, Loading, Trouble } from "../../kit/States";
import { useWindow } from "../../session/useWindow";
import { useStore } from "../../state/store";
import { desk } from "../../transport/desk";
import { type Agent, type End, type Terminal as Open, terminals } from "../../transport/terminals";
import { AgentBar } from "./AgentBar";
import { words } from "./i18n";
import { Shell } from "./Shell";
import { Tabs } from "./Tabs";
import { useShown } from "./useShown";
import { useTerminals } from "./useTerminals";
import "./terminal.css";

const prefix = "terminal:";
const readerSetting = "terminal.reader";

/** The terminals of the computer, where the browser can be connected to one. */
export default function App() {
  return "WebSocket" in globalThis ? <Terminals /> : <NoLine />;
}

function NoLine() {
  const t = useWords(words);
  return (
    <Empty icon={<SquareTerminal size={38} strokeWidth={1.4} aria-hidden />} title={t("noLine")}>
      <p>{t("noLineMore")}</p>
    </Empty>
  );
}

/** The terminals; which one is shown is the window's subject. */
function Terminals() {
  const { id: windowID, subject, focused, show } = useWindow();
  const t = useWords(words);
  const { all, error, refetch, ends, ended, open } = useTerminals();
  const [failure, setFailure] = useState<unknown>();
  const [searching, setSearching] = useState(false);
  const [titles, setTitles] = useState<ReadonlyMap<ID, string>>(new Map());
  const reader = useStore((s) => s.settings.get(readerSetting) === "on");
  const wanted = subject.startsWith(prefix) ? subject.slice(prefix.length) : undefined;
  const { active, left, tabs, forget } = useShown(all, wanted);
  const own = all?.filter((o) => !o.agent);

  const choose = (id: ID) => show(`${prefix}${id}`);
  const begin = async (key: string = crypto.randomUUID()) => {
    setFailure(undefined);
    try {
      choose((await open(key)).terminal);
    } catch (cause) {
      setFailure(cause);
    }
  };
  const close = async (id: ID) => {
    setFailure(undefined);
    if (left && id === wanted) {
      forget();
      first();
      return;
    }
    try {
      await terminals.close(id);
    } catch (cause) {
      // What had ended is closed; the list is read again.
      if (isGone(cause)) unawaited(refetch());
      else notifyProblem(cause);
    }
  };
  const first = () => {
    const newest = own?.at(-1);
    if (newest) choose(newest.terminal);
    else unawaited(begin(`window-${windowID}`));
  };
  // A new window shows a terminal at once: one that is open, or its own.
  const bare = wanted === undefined && all !== undefined && failure === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each window that shows nothing yet
  useEffect(() => {
    if (bare) first();
  }, [bare, windowID]);

  const turn = (by: number) => {
    const at = tabs.findIndex((o) => o.terminal === wanted);
    const next = tabs.at((at + by) % (tabs.length || 1));
    if (next) choose(next.terminal);
  };
  const chords: Record<string, () => void> = {
    "Alt+Shift+N": () => unawaited(begin()),
    "Alt+Shift+W": () => wanted && unawaited(close(wanted)),
    "Alt+Shift+Left": () => turn(-1),
    "Alt+Shift+Right": () => turn(1),
    "Alt+Shift+F": () => setSearching(true),
    "Alt+Shift+B": () =>
      document.querySelector<HTMLElement>(`[data-window="${windowID}"] [aria-selected=true]`)?.focus(),
  };
  const chordOf = (e: KeyboardEvent) => Object.keys(chords).find((c) => isChord(e, c));
  const press = (e: React.KeyboardEvent) => {
    const chord = chordOf(e.nativeEvent);
    if (!chord) return;
    e.preventDefault();
    chords[chord]?.();
  };
  const agentBar = ({ terminal, opened }: Open, agent: Agent) => (
    <AgentBar agent={agent} since={opened} end={ends.get(terminal)} onEnd={() => unawaited(close(terminal))} />
  );
  const titleOf = (o: Open) => titles.get(o.terminal) || o.title;

  if (error && !all) return <Trouble error={error} onAgain={() => unawaited(refetch())} />;
  if (!all) return <Loading label={t("opening")} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the terminal inside
    <div className="app terminal" onKeyDown={press}>
      <div className="app-tools">
        <Tabs
          all={tabs}
          ended={left}
          active={active?.terminal}
          titleOf={titleOf}
          onChoose={choose}
          onClose={(id) => unawaited(close(id))}
          onOpen={() => unawaited(begin())}
        />
        <span className="spread" />
        <button
          type="button"
          className="tool"
          aria-pressed={searching}
          aria-label={t("search")}
          title={t("search")}
          disabled={!active}
          onClick={() => setSearching(!searching)}
        >
          <Search size={16} aria-hidden />
        </button>
        <button
          type="button"
          className="tool"
          aria-pressed={reader}
          aria-label={t("reader")}
          title={t("reader")}
          onClick={() => unawaited(desk.set(readerSetting, reader ? "" : "on"))}
        >
          <Accessibility size={16} aria-hidden />
        </button>
      </div>
      {failure !== undefined ? (
        <Trouble error={failure} onAgain={() => unawaited(begin())} />
      ) : active && (active.agent || !ends.has(active.terminal)) ? (
        <Shell
          key={active.terminal}
          id={active.terminal}
          head={active.agent && agentBar(active, active.agent)}
          title={titleOf(active)}
          focused={focused}
          searching={searching}
          reader={reader}
          isOurs={(e) => chordOf(e) !== undefined || isCopy(e)}
          onTitle={(title) => active.agent || setTitles((known) => new Map(known).set(active.terminal, title))}
          onEnd={(end) => ended(active.terminal, end)}
          onSearched={() => setSearching(false)}
        />
      ) : wanted === undefined ? (
        <Loading label={t("opening")} />
      ) : (
        <Ended end={ends.get(wanted)} onOpen={() => unawaited(begin())} />
      )}
    </div>
  );
}

/** Ctrl+Shift+C copies what is marked, as people know it from terminals; Ctrl+C is the program's. */
function isCopy(e: KeyboardEvent): boolean {
  if (e.type !== "keydown" || !isChord(e, "Ctrl+Shift+C")) return false;
  e.preventDefault();
  document.execCommand("copy");
  return true;
}

/** A terminal that is gone, and why. */
function Ended({ end, onOpen }: { end: End | undefined; onOpen(): void }) {
  const t = useWords(words);
  const why = () => {
    if (!end) return t("noneMore");
    if (end.reason === "exited") {
      return end.signal ? t("signalled", { signal: end.signal }) : t("exited", { code: end.code });
    }
    return t(end.reason === "lost" ? "ended" : end.reason);
  };
  return (
    <Empty icon={<SquareTerminal size={38} strokeWidth={1.4} aria-hidden />} title={t("gone")}>
      <p>{why()}</p>
      <Button look="primary" onClick={onOpen}>
        {t("open")}
      </Button>
    </Empty>
  );
}
