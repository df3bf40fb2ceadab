import { type FormEvent, useState } from "react";
import { useWords } from "../../i18n/words";
import { words } from "../i18n";

/** Which page is seen, of how many; another number leads there. */
export function Place({ at, of, onGo }: { at: number; of: number; onGo(page: number): void }) {
  const t = useWords(words);
  // Undefined while nothing is being typed.
  const [typed, setTyped] = useState<string>();
  const go = (e: FormEvent) => {
    e.preventDefault();
    const page = Number.parseInt(typed ?? "", 10);
    setTyped(undefined);
    if (!Number.isNaN(page)) onGo(Math.max(1, Math.min(of, page)));
  };
  return (
    <form className="pdf-where" onSubmit={go}>
      <input
        className="field"
        inputMode="numeric"
        aria-label={t("pdfGoTo")}
        value={typed ?? at}
        onChange={(e) => setTyped(e.target.value)}
        onBlur={() => setTyped(undefined)}
      />
      <span>{t("pdfOf", { of })}</span>
    </form>
  );
}
