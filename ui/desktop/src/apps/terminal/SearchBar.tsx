import { ChevronDown, ChevronUp, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useWords } from "../../i18n/words";
import { words } from "./i18n";
import type { Screen } from "./screen";

/** Finds words in the output, from the newest back. */
export function SearchBar({ screen, onDone }: { screen: Screen; onDone(): void }) {
  const t = useWords(words);
  const box = useRef<HTMLInputElement>(null);
  const [wanted, setWanted] = useState("");
  const [found, setFound] = useState(true);
  useEffect(() => {
    box.current?.focus();
    return () => screen.search.clearDecorations();
  }, [screen]);
  const before = (text = wanted) => setFound(text === "" || screen.search.findPrevious(text));
  const next = () => setFound(wanted === "" || screen.search.findNext(wanted));
  const press = (e: React.KeyboardEvent) => {
    if (e.key === "Escape") onDone();
    else if (e.key === "Enter" && e.shiftKey) next();
    else if (e.key === "Enter") before();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <search className="terminal-search">
      <input
        ref={box}
        className="field"
        aria-label={t("searchFor")}
        placeholder={t("searchFor")}
        value={wanted}
        onKeyDown={press}
        onChange={(e) => {
          setWanted(e.target.value);
          before(e.target.value);
        }}
      />
      <span role="status" className="terminal-found">
        {found ? "" : t("notFound")}
      </span>
      <button type="button" className="tool" aria-label={t("before")} title={t("before")} onClick={() => before()}>
        <ChevronUp size={16} aria-hidden />
      </button>
      <button type="button" className="tool" aria-label={t("next")} title={t("next")} onClick={next}>
        <ChevronDown size={16} aria-hidden />
      </button>
      <button type="button" className="tool" aria-label={t("searchEnd")} title={t("searchEnd")} onClick={onDone}>
        <X size={16} aria-hidden />
      </button>
    </search>
  );
}
