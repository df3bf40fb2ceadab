import { FileText, type LucideIcon } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { Dialog } from "#base/kit/Dialog.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { usePerform } from "../../actions/hotkeys";
import { actions, search } from "../../actions/registry";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/words";
import "./launcher.css";

interface Entry {
  id: string;
  title: string;
  icon: LucideIcon;
  keys?: string;
  go(): void;
}

/** Every action that makes sense now, and every run, by typing. */
function useEntries(): Entry[] {
  const state = useStore();
  const session = useSession();
  const perform = usePerform();
  const doing = actions
    .filter((a) => a.when(state))
    .map((a) => ({
      id: a.id,
      title: a.title,
      icon: a.icon,
      ...(a.keys ? { keys: a.keys } : {}),
      go: () => unawaited(perform(a)),
    }));
  const runs = state.runs.map((r) => ({
    id: r.id,
    title: r.prompt.split("\n")[0] ?? "",
    icon: FileText,
    go: () => session.go({ page: "run", run: r.id }),
  }));
  return [...doing, ...runs];
}

/** The command palette. */
export default function Launcher() {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const close = () => useStore.getState().setLauncher(false);
  const found = search(useEntries(), typed).slice(0, 40);
  const chosen = found[Math.min(at, found.length - 1)];
  const choose = (entry: Entry | undefined) => {
    close();
    entry?.go();
  };
  const press = (e: KeyboardEvent) => {
    const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (by) setAt((Math.min(at, found.length - 1) + by + found.length) % Math.max(found.length, 1));
    else if (e.key === "Enter" && !e.nativeEvent.isComposing) choose(chosen);
    else return;
    e.preventDefault();
  };
  return (
    <Dialog label={t("bar.launcher")} className="launcher" onClose={close}>
      <input
        className="launcher-input"
        role="combobox"
        aria-label={t("launcher.search")}
        aria-expanded="true"
        aria-controls="launcher-list"
        aria-activedescendant={chosen && `launch-${chosen.id}`}
        placeholder={t("launcher.placeholder")}
        value={typed}
        onChange={(e) => {
          setTyped(e.target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div id="launcher-list" role="listbox" aria-label={t("launcher.found")} className="launcher-list scroll">
        {found.map((entry) => (
          <Option key={entry.id} entry={entry} chosen={entry === chosen} onChoose={() => choose(entry)} />
        ))}
        {found.length === 0 && <p className="launcher-none">{t("launcher.none")}</p>}
      </div>
    </Dialog>
  );
}

function Option({ entry, chosen, onChoose }: { entry: Entry; chosen: boolean; onChoose(): void }) {
  return (
    <div
      id={`launch-${entry.id}`}
      role="option"
      aria-selected={chosen}
      tabIndex={-1}
      className="launcher-option"
      ref={(e) => {
        if (chosen) e?.scrollIntoView({ block: "nearest" });
      }}
      onClick={onChoose}
      onKeyDown={(e) => e.key === "Enter" && onChoose()}
    >
      <entry.icon size={16} aria-hidden />
      <span>{entry.title}</span>
      {entry.keys && <kbd>{entry.keys}</kbd>}
    </div>
  );
}
