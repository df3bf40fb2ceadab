import { ArrowRight, Globe, RotateCw } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { useWords } from "../../i18n/words";
import { Empty } from "../../kit/States";
import { useWindow } from "../../session/useWindow";
import { words } from "./i18n";
import { Page } from "./Page";
import { addressOf, placeOf } from "./place";
import "./preview.css";

/** Shows what listens inside the sandbox. */
export default function Preview() {
  const { subject, show } = useWindow();
  const t = useWords(words);
  const hint = useId();
  // Undefined is the address that is shown.
  const [typed, setTyped] = useState<string>();
  const [wrong, setWrong] = useState(false);
  const [visit, setVisit] = useState(0);
  const place = placeOf(subject);
  const type = (text: string | undefined) => {
    setTyped(text);
    setWrong(false);
  };
  const go = (e: FormEvent) => {
    e.preventDefault();
    const to = placeOf(typed ?? subject);
    if (!to) return setWrong(true);
    type(undefined);
    if (addressOf(to) === subject) setVisit(visit + 1);
    else show(addressOf(to), `localhost:${to.port}`);
  };
  return (
    <div className="app preview">
      <form className="app-tools" onSubmit={go}>
        <button
          type="button"
          className="tool"
          aria-label={t("reload")}
          title={t("reload")}
          disabled={!place}
          onClick={() => setVisit(visit + 1)}
        >
          <RotateCw size={16} aria-hidden />
        </button>
        <input
          className="field preview-address"
          aria-label={t("address")}
          aria-invalid={wrong}
          aria-describedby={wrong ? hint : undefined}
          placeholder={t("hint")}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          value={typed ?? subject}
          onChange={(e) => type(e.target.value)}
          onKeyDown={(e) => e.key === "Escape" && type(undefined)}
        />
        <button type="submit" className="tool" aria-label={t("go")} title={t("go")}>
          <ArrowRight size={16} aria-hidden />
        </button>
      </form>
      {wrong && (
        <p className="preview-wrong" id={hint} role="alert">
          {t("wrong")}
        </p>
      )}
      {place ? (
        <Page key={`${visit} ${subject}`} place={place} visit={visit} />
      ) : (
        <Empty icon={<Globe size={38} strokeWidth={1.4} aria-hidden />} title={t("empty")}>
          {t("emptyMore")}
        </Empty>
      )}
    </div>
  );
}
