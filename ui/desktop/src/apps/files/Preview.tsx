import { bytes } from "#base/domain/bytes.ts";
import type { FileState } from "#base/domain/contracts.ts";
import { nameOf } from "../../domain/path";
import { useWords } from "../../i18n/words";
import { FileIcon } from "../../kit/FileIcon";
import { Media } from "../../kit/Media";
import { Loading } from "../../kit/States";
import { TextHead } from "../../kit/TextHead";
import { useContent } from "../../kit/useContent";
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
  if (trashed || file.kind !== "file") return <FileIcon file={file} size={72} />;
  return <Content file={file} />;
}

/** A glance at a file, as what it is rather than as what it is called. */
function Content({ file }: { file: FileState }) {
  const { data: content, error } = useContent(file.path);
  if (error || content?.kind === "none") return <FileIcon file={file} size={72} />;
  if (!content) return <Loading />;
  if (content.kind === "text") return <TextHead path={file.path} version={content.digest} />;
  return <Media path={file.path} kind={content.kind} digest={content.digest} small />;
}
