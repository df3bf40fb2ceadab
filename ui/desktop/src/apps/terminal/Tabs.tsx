import { Bot, Plus, Trash2, X } from "lucide-react";
import type { ID } from "#base/domain/contracts.ts";
import { useWords } from "../../i18n/words";
import type { Terminal } from "../../transport/terminals";
import { words } from "./i18n";

interface Props {
  all: readonly Terminal[];
  active: ID | undefined;
  /** The active one is a command of an agent that has ended. */
  ended: boolean;
  titleOf(terminal: Terminal): string;
  onChoose(id: ID): void;
  onClose(id: ID): void;
  onOpen(): void;
}

/** The terminals of the computer, one tab each. */
export function Tabs({ all, active, ended, titleOf, onChoose, onClose, onOpen }: Props) {
  const t = useWords(words);
  const press = (e: React.KeyboardEvent, at: number) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[e.key];
    const next = to === undefined ? undefined : all[(to + all.length) % all.length];
    if (next) {
      onChoose(next.terminal);
      (e.currentTarget.parentElement?.parentElement?.children[all.indexOf(next)]?.firstChild as HTMLElement)?.focus();
    } else if (e.key === "Delete") onClose(all[at]?.terminal ?? "");
    else return;
    e.preventDefault();
  };
  const chosenOne = all.find((one) => one.terminal === active);
  return (
    <div className="terminal-tabs">
      <div role="tablist" aria-label={t("tabs")} className="terminal-tablist">
        {all.map((terminal, at) => {
          const chosen = terminal.terminal === active;
          const title = titleOf(terminal);
          const label = terminal.agent ? t("agentTab", { title }) : title;
          return (
            <div key={terminal.terminal} role="presentation" className="terminal-tab" data-chosen={chosen}>
              <button
                type="button"
                role="tab"
                aria-selected={chosen}
                aria-keyshortcuts="Delete"
                aria-controls={chosen ? `terminal-${terminal.terminal}` : undefined}
                tabIndex={chosen || (at === 0 && !active) ? 0 : -1}
                className="terminal-tab-title"
                title={label}
                aria-label={label}
                onClick={() => onChoose(terminal.terminal)}
                onKeyDown={(e) => press(e, at)}
              >
                {terminal.agent && <Bot size={14} aria-hidden />}
                {title}
              </button>
              {/* For pointers only: a tab list may hold nothing but tabs. */}
              {all.length > 1 && !terminal.agent && (
                <button
                  type="button"
                  className="terminal-tab-close"
                  aria-hidden
                  title={t("close", { title })}
                  tabIndex={-1}
                  onClick={() => onClose(terminal.terminal)}
                >
                  <X size={13} aria-hidden />
                </button>
              )}
            </div>
          );
        })}
      </div>
      {chosenOne && (ended || !chosenOne.agent) && (
        <button
          type="button"
          className="tool"
          aria-label={t("close", { title: titleOf(chosenOne) })}
          title={t("close", { title: titleOf(chosenOne) })}
          onClick={() => onClose(chosenOne.terminal)}
        >
          {/* No cross: that is the window's. */}
          <Trash2 size={16} aria-hidden />
        </button>
      )}
      <button type="button" className="tool" aria-label={t("open")} title={t("open")} onClick={onOpen}>
        <Plus size={16} aria-hidden />
      </button>
    </div>
  );
}
