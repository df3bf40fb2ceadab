import { type RefObject, useEffect, useRef, useState } from "react";
import { notifyProblem } from "#base/kit/notify.ts";
import { commands, matching } from "../actions/commands";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { useSession } from "../session/session";

interface Props {
  /** What follows the question mark. */
  typed: string;
  input: RefObject<HTMLTextAreaElement | null>;
  onDone(): void;
}

/** The commands that fit what was typed after ?; up, down and Enter choose one. */
export function Commands({ typed, input, onDone }: Props) {
  const session = useSession();
  const t = useWords(deskWords);
  const fits = matching(typed, (c) => t(c.title));
  const [at, setAt] = useState(0);
  const chosen = Math.min(at, fits.length - 1);
  const perform = useRef<(i: number) => void>(() => {});
  perform.current = (i) => {
    const fit = fits[i];
    if (!fit) return;
    onDone();
    const done = async () => fit.command.run(session, fit.rest);
    done().catch(notifyProblem);
  };
  useEffect(() => {
    const box = input.current;
    const press = (e: KeyboardEvent) => {
      const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
      if (step === 0 && e.key !== "Enter") return;
      e.preventDefault();
      e.stopPropagation();
      if (step) setAt((n) => (n + step + commands.length) % commands.length);
      else perform.current(chosen);
    };
    box?.addEventListener("keydown", press, true);
    return () => box?.removeEventListener("keydown", press, true);
  }, [input, chosen]);
  return (
    <ul className="commands" aria-label={t("commands")}>
      {fits.map(({ command }, i) => (
        <li key={command.id}>
          <button type="button" data-chosen={i === chosen} onClick={() => perform.current(i)}>
            <b>?{command.word}</b> {t(command.title)}
          </button>
        </li>
      ))}
    </ul>
  );
}
