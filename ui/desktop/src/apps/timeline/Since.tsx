import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { changeSaid } from "#base/domain/marksaid.ts";
import type { MomentsView } from "#base/domain/views.ts";
import { DiffView } from "#base/kit/DiffView.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { useWords } from "../../i18n/words";
import { Empty, Loading, Trouble } from "../../kit/States";
import { moments } from "../../transport/moments";
import { words } from "./i18n";

/** What differs now from what was after an event. */
export function Since({ seq }: { seq: number | undefined }) {
  const t = useWords(words);
  const { data, error, refetch } = useQuery({
    // It is read again when files change: now is something else then.
    queryKey: ["files", "since", seq],
    enabled: seq !== undefined,
    queryFn: ({ signal }) => moments.diff(seq ?? 0, 0, signal),
    placeholderData: keepPreviousData,
  });
  if (seq === undefined) return <Empty title={t("isNow")}>{t("isNowMore")}</Empty>;
  if (error) return <Trouble error={error} onAgain={() => unawaited(refetch())} />;
  if (!data) return <Loading />;
  const { documents, changes, files } = data;
  if (files.length + documents.length + changes.length === 0) return <Empty title={t("same")}>{t("sameMore")}</Empty>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="timeline-since scroll" aria-label={t("since")} tabIndex={0}>
      {files.length > 0 && <h3>{t("files")}</h3>}
      {files.map((f) =>
        f.diff ? (
          <DiffView key={f.path} text={f.diff} />
        ) : (
          <p key={f.path}>
            <code>{f.path}</code> {t(f.change)}
          </p>
        ),
      )}
      {data.cut && <p>{t("cut")}</p>}
      {documents.length > 0 && <h3>{t("documents")}</h3>}
      {documents.map((d) => (
        <Document key={d.id} document={d} />
      ))}
      {changes.length > 0 && <h3>{t("desktop")}</h3>}
      {changes.map(changeSaid).map((line) => (
        <p key={line}>{line}</p>
      ))}
    </section>
  );
}

function Document({ document: { title, from, to, diff } }: { document: MomentsView["documents"][number] }) {
  const t = useWords(words);
  const key = !from ? "documentNew" : !to ? "documentGone" : "documentChanged";
  return (
    <>
      <p>{t(key, { title, from: from ?? 0, to: to ?? 0 })}</p>
      {diff && <DiffView text={diff} folded />}
    </>
  );
}
