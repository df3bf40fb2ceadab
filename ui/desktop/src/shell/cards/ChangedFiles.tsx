import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { DiffView } from "#base/kit/DiffView.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import type { CardFile } from "../../domain/card";
import { deskWords } from "../../i18n/desk";
import { useWords } from "../../i18n/words";
import { Loading } from "../../kit/States";
import { useSession } from "../../session/session";
import { api } from "../../transport/api";

/** Files that are listed before the others are asked for. */
const LISTED = 8;

const kinds = { added: "fileAdded", modified: "fileModified", deleted: "fileDeleted", renamed: "fileRenamed" } as const;

/** What a run changed; each file opens, or shows what is different in it. */
export function ChangedFiles({ files }: { files: readonly CardFile[] }) {
  const t = useWords(deskWords);
  const [all, setAll] = useState(false);
  const listed = all ? files : files.slice(0, LISTED);
  return (
    <section className="card-files" aria-label={t("filesChanged")}>
      <h2 className="card-title">{t("filesChangedCount", { n: files.length })}</h2>
      <ul>
        {listed.map((file) => (
          <File key={file.path} file={file} />
        ))}
      </ul>
      {listed.length < files.length && (
        <button type="button" className="card-link" onClick={() => setAll(true)}>
          {t("moreFiles", { n: files.length - listed.length })}
        </button>
      )}
    </section>
  );
}

function File({ file }: { file: CardFile }) {
  const t = useWords(deskWords);
  const { windows } = useSession();
  const [diff, setDiff] = useState(false);
  return (
    <li>
      <div className="card-file">
        <span className="card-change" data-change={file.change}>
          {t(kinds[file.change])}
        </span>
        <code title={file.from ? `${file.from} → ${file.path}` : file.path}>{file.path}</code>
        {file.change !== "deleted" && (
          <button type="button" className="card-link" onClick={() => unawaited(windows.openSubject(file.path))}>
            {t("openFile")}
          </button>
        )}
        {file.diffs.length > 0 && (
          <button type="button" className="card-link" aria-expanded={diff} onClick={() => setDiff(!diff)}>
            {t("diff")}
          </button>
        )}
      </div>
      {diff && <Diffs file={file} />}
    </li>
  );
}

/** The part of each diff that is about the file; a large diff is a blob. */
function Diffs({ file }: { file: CardFile }) {
  const read = useQueries({
    queries: file.diffs.map((diff) => ({
      queryKey: ["blob", diff.blob ?? diff.content],
      queryFn: async () => diff.content ?? (await api.blob(diff.blob ?? "")),
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  return read.map(({ data, error }, i) =>
    error ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the diffs of a run that has ended never change places
      <p key={i} role="alert">
        {error.message}
      </p>
    ) : data === undefined ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above
      <Loading key={i} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above
      <DiffView key={i} text={data} path={file.path} />
    ),
  );
}
