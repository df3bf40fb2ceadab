import { MoveLeft, X } from "lucide-react";
import { useWords } from "../../i18n/words";
import { words } from "./i18n";

/** The end of a demo: what the slider is for. It goes away when the slider is moved. */
export function Hint({ onClose }: { onClose(): void }) {
  const t = useWords(words);
  return (
    <aside className="timeline-hint" aria-label={t("dragBack")}>
      <MoveLeft size={22} aria-hidden />
      <p>
        <b>{t("dragBack")}</b> {t("dragBackMore")}
      </p>
      <button type="button" className="tool" aria-label={t("hideHint")} title={t("hideHint")} onClick={onClose}>
        <X size={16} aria-hidden />
      </button>
    </aside>
  );
}
