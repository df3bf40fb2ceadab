import { X } from "lucide-react";
import { bytes } from "#base/domain/bytes.ts";
import { useWords } from "../../i18n/words";
import { useStore } from "../../state/store";
import { words } from "./i18n";
import type { Item } from "./place";
import { type Progress, useUploads } from "./uploading";

/** How much is here and chosen, and what is on its way up. */
export function Status(props: {
  /** Undefined until they are known. */
  items: readonly Item[] | undefined;
  chosen: readonly Item[];
  cut: boolean;
  partial: boolean;
  search: boolean;
}) {
  const { items, chosen, cut, partial, search } = props;
  const t = useWords(words);
  const language = useStore((s) => s.language);
  const uploads = useUploads((s) => s.all);
  const size = chosen.reduce((sum, i) => sum + (i.file.kind === "file" ? i.file.size : 0), 0);
  return (
    <footer className="app-status">
      <span role="status">
        {chosen.length > 0
          ? `${t("chosen", { n: chosen.length })} · ${bytes(size, language)}`
          : items && t(search ? "found" : "entries", { n: items.length })}
        {cut && ` · ${t("foundCut")}`}
        {partial && ` · ${t("reading")}`}
      </span>
      {[...uploads].map(([id, one]) => (
        <Uploading key={id} upload={one} />
      ))}
    </footer>
  );
}

/** One upload: what is on its way, how much has arrived, and the way to stop it. */
function Uploading({ upload: { name, part, done, known, counted, cancel } }: { upload: Progress }) {
  const t = useWords(words);
  const many = !counted || known > 1;
  return (
    <span className="files-upload">
      <label>
        <span className="files-upload-name">{t("uploading", { name })}</span>
        {/* Of many files the files count, of one its bytes. */}
        <progress max={many ? Math.max(known, 1) : 1} value={many ? done + part : part} />
      </label>
      {many && <span>{t(counted ? "uploadOf" : "uploadOfMore", { done, known })}</span>}
      <button
        type="button"
        className="files-upload-stop"
        aria-label={t("uploadStop")}
        title={t("uploadStop")}
        onClick={cancel}
      >
        <X size={14} aria-hidden />
      </button>
    </span>
  );
}
