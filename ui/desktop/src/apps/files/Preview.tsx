import { nameOf } from "../../domain/path";
import { bytes } from "../../domain/time";
import { useWords } from "../../i18n/words";
import { FileIcon } from "../../kit/FileIcon";
import { kindOf, Media } from "../../kit/Media";
import { TextHead } from "../../kit/TextHead";
import { useStore } from "../../state/store";
import { words } from "./i18n";
import type { Item } from "./place";

/** The chosen file beside the list. */
export function Preview({ item }: { item: Item | undefined }) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  return (
    <aside className="files-preview" aria-label={t("preview")}>
      {item && (
        <>
          <h3>{nameOf(item.file.path)}</h3>
          <p>
            {item.file.kind === "dir" ? t("folder") : bytes(item.file.size, language)} ·{" "}
            {new Date(item.file.mtime_ms).toLocaleString(language)}
          </p>
          <Inside item={item} />
        </>
      )}
    </aside>
  );
}

function Inside({ item }: { item: Item }) {
  const { file, trashed } = item;
  const kind = kindOf(file.path);
  if (trashed || file.kind !== "file") return <FileIcon file={file} size={72} />;
  if (kind === "text") return <TextHead path={file.path} version={file.digest ?? String(file.mtime_ms)} />;
  return <Media path={file.path} kind={kind} />;
}
