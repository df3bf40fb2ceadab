import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { bytes } from "#base/domain/bytes.ts";
import { isGone } from "#base/domain/problem.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { useWords } from "../../i18n/words";
import { Gone, Loading, Trouble } from "../../kit/States";
import { useStore } from "../../state/store";
import { moments } from "../../transport/moments";
import { FilesThen } from "./FilesThen";
import { words } from "./i18n";

/** The computer as it was after an event; `file` is shown at first. */
export function Then({ seq, file }: { seq: number; file?: string | undefined }) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  const { data, error, refetch } = useQuery({
    queryKey: ["moment", seq],
    queryFn: ({ signal }) => moments.show(seq, signal),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  if (isGone(error)) return <Gone never={t("never")} onAgain={() => unawaited(refetch())} />;
  if (error) return <Trouble error={error} onAgain={() => unawaited(refetch())} />;
  if (!data) return <Loading />;
  return (
    <section className="timeline-then" aria-label={t("was")} data-seq={data.seq}>
      <dl>
        <dt>{t("files")}</dt>
        <dd>{t("filesCount", { n: data.files, bytes: bytes(data.bytes, language) })}</dd>
        <dt>{t("documents")}</dt>
        <dd>{listed(data.documents.map((d) => `${d.title} (${d.version})`)) || t("noDocuments")}</dd>
        <dt>{t("windows")}</dt>
        <dd>{listed(data.windows.map((w) => w.title || w.app)) || t("noWindows")}</dd>
      </dl>
      {data.collected ? (
        <p className="timeline-note">{t("collected")}</p>
      ) : data.snapshot ? (
        <FilesThen moment={data} snapshot={data.snapshot} {...(file ? { first: file } : {})} />
      ) : (
        <p className="timeline-note">{t("noFiles")}</p>
      )}
    </section>
  );
}

const listed = (names: readonly string[]) => names.join(", ");
