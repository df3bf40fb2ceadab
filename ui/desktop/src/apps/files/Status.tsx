import { nameOf } from "../../domain/path";
import { bytes } from "../../domain/time";
import { useWords } from "../../i18n/words";
import { useStore } from "../../state/store";
import { useHeld } from "./doing";
import { words } from "./i18n";
import type { Item } from "./place";

/** How much is here and chosen, and what is on its way up. */
export function Status(props: {
  items: readonly Item[];
  chosen: readonly Item[];
  cut: boolean;
  partial: boolean;
  search: boolean;
}) {
  const { items, chosen, cut, partial, search } = props;
  const t = useWords(words);
  const language = useStore((s) => s.language);
  const uploads = useHeld((s) => s.uploads);
  const size = chosen.reduce((sum, i) => sum + (i.file.kind === "file" ? i.file.size : 0), 0);
  return (
    <footer className="app-status">
      <span role="status">
        {chosen.length > 0
          ? `${t("chosen", { n: chosen.length })} · ${bytes(size, language)}`
          : t(search ? "found" : "entries", { n: items.length })}
        {cut && ` · ${t("foundCut")}`}
        {partial && ` · ${t("reading")}`}
      </span>
      {[...uploads].map(([path, part]) => (
        <label key={path} className="files-upload">
          {t("uploading", { name: nameOf(path) })} <progress max={1} value={part} />
        </label>
      ))}
    </footer>
  );
}
