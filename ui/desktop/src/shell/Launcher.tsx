import { type KeyboardEvent, useId, useState } from "react";
import { Dialog } from "#base/kit/Dialog.tsx";
import { written } from "../domain/chord";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { isMac } from "../kit/platform";
import { useStore } from "../state/store";
import { type Entry, useEntries } from "./useEntries";
import "./launcher.css";

/** The longest text that is looked for, or asked, in characters. */
const LONGEST = 2_000;

/** Everything by name: apps, actions, windows, documents, files and past runs; the last row asks. */
export default function Launcher() {
  const t = useWords(deskWords);
  const setPanel = useStore((s) => s.setPanel);
  const [typed, setTyped] = useState("");
  // Rows come while one types: undefined is the best of them, whichever that is.
  const [chosen, setChosen] = useState<string>();
  const list = useId();
  const { entries, asks, looking } = useEntries(typed);
  const rows = asks ? [...entries, asks] : entries;
  const at = rows.find((e) => e.id === chosen) ?? first(entries, asks, typed, looking);
  const go = (entry: Entry) => {
    setPanel(undefined);
    entry.go();
  };
  const press = (e: KeyboardEvent) => {
    const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (by) setChosen(rows[next(at ? rows.indexOf(at) : -1, by, rows.length)]?.id);
    else if (e.key !== "Enter" || e.nativeEvent.isComposing) return;
    else if (at) go(at);
    e.preventDefault();
  };
  return (
    <Dialog label={t("launcher")} className="launcher" onClose={() => setPanel(undefined)}>
      <input
        data-first
        className="launcher-input"
        role="combobox"
        aria-label={t("launcher")}
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={list}
        aria-activedescendant={at && idOf(list, at)}
        autoComplete="off"
        spellCheck={false}
        maxLength={LONGEST}
        placeholder={t("launcherPlaceholder")}
        value={typed}
        onChange={(e) => {
          setTyped(e.target.value);
          setChosen(undefined);
        }}
        onKeyDown={press}
      />
      <div id={list} role="listbox" aria-label={t("launcher")} className="launcher-list" data-looking={looking}>
        {rows.map((entry) => (
          <Row key={entry.id} id={idOf(list, entry)} entry={entry} chosen={entry === at} onGo={() => go(entry)} />
        ))}
      </div>
      <p className="visually-hidden" role="status">
        {typed && !looking && (entries.length > 0 ? t("launcherFound", { n: entries.length }) : t("launcherEmpty"))}
      </p>
    </Dialog>
  );
}

const idOf = (list: string, entry: Entry) => `${list}-${entry.id.replace(/\s/g, "_")}`;

/** The place after or before one of so many, round the end; without one, the first or the last. */
function next(at: number, by: number, length: number): number {
  return at < 0 ? (by > 0 ? 0 : length - 1) : (at + by + length) % length;
}

/** The row that Enter takes when none was chosen: the best, or asking when nothing else can be meant, as a run costs money. */
function first(entries: Entry[], asks: Entry | undefined, typed: string, looking: boolean): Entry | undefined {
  return entries[0] ?? (!looking && /\S\s+\S/.test(typed) ? asks : undefined);
}

interface RowProps {
  id: string;
  entry: Entry;
  chosen: boolean;
  onGo(): void;
}

function Row({ id, entry: { kind, texts, icon, keys }, chosen, onGo }: RowProps) {
  const t = useWords(deskWords);
  return (
    <div
      id={id}
      role="option"
      aria-selected={chosen}
      tabIndex={-1}
      className="launcher-row"
      data-kind={kind ?? "ask"}
      ref={(e) => {
        if (chosen) e?.scrollIntoView({ block: "nearest" });
      }}
      // The keyboard stays in the field.
      onPointerDown={(e) => e.preventDefault()}
      onClick={onGo}
      onKeyDown={(e) => e.key === "Enter" && onGo()}
    >
      {icon}
      <span>{texts[0]}</span>
      {keys && <kbd>{written(keys, isMac)}</kbd>}
      {kind && <small>{t(kind)}</small>}
    </div>
  );
}
