import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useMemo } from "react";
import { isGone } from "#base/domain/problem.ts";
import { textOf } from "#base/domain/text.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { nameOf } from "../../domain/path";
import { useWords } from "../../i18n/words";
import { Loading, Trouble } from "../../kit/States";
import { moments } from "../../transport/moments";
import type { At } from "./Folder";
import { words } from "./i18n";

/** One file as it was. */
export function FileThen({ at, path }: { at: At; path: string }) {
  const t = useWords(words);
  const { data, error, refetch } = useQuery({
    queryKey: ["file then", at.snapshot, path],
    queryFn: ({ signal }) => moments.file(at.seq, path, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  });
  const name = nameOf(path);
  return (
    <section className="timeline-file" aria-label={path}>
      <header>
        <code>{path}</code>
        <a
          className="tool"
          href={moments.fileAddress(at.seq, path)}
          download={name}
          aria-label={t("download", { name })}
          title={t("download", { name })}
        >
          <Download size={16} aria-hidden />
        </a>
      </header>
      {isGone(error) ? (
        <p className="timeline-note">{t("notThen")}</p>
      ) : error ? (
        <Trouble error={error} onAgain={() => unawaited(refetch())} />
      ) : data ? (
        <Content data={data} />
      ) : (
        <Loading />
      )}
    </section>
  );
}

function Content({ data }: { data: ArrayBuffer }) {
  const t = useWords(words);
  const read = useMemo(() => textOf(data), [data]);
  if (!read) return <p className="timeline-note">{t("noText")}</p>;
  if (read.text === "") return <p className="timeline-note">{t("emptyFile")}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <pre className="scroll" tabIndex={0}>
      {read.text}
      {read.cut && `\n\n${t("cutFile")}`}
    </pre>
  );
}
