import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useMemo } from "react";
import { Refusal } from "#base/domain/problem.ts";
import { addedLines, piecesOf, textOf } from "#base/domain/text.ts";
import type { FileDiff, Moment } from "#base/domain/views.ts";
import { bytes } from "../../domain/time";
import { useSession } from "../../session/session";
import { t } from "../../words/late";
import { wasThere } from "./past";

/** One file as it was; what the last step wrote in it stands out. */
export function FileThen({ moment, path, step }: { moment: Moment; path: string; step: FileDiff | undefined }) {
  const session = useSession();
  const queries = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ["file", moment.snapshot, path],
    // A file chosen at another moment may not be there at this one; the folders tell.
    queryFn: async () =>
      (step && step.change !== "deleted") || (await wasThere(queries, session, moment, path))
        ? session.api.moments.file(moment.seq, path)
        : null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  });
  const name = path.slice(path.lastIndexOf("/") + 1);
  return (
    <section className="file" aria-label={t("time.contentThen")}>
      <header className="file-head">
        <code>{path}</code>
        {data && (
          <a href={session.api.moments.fileAddress(moment.seq, path)} download={name}>
            <span className="visually-hidden">{t("time.download", { name })}</span>
            {bytes(data.byteLength)} <Download size={15} aria-hidden />
          </a>
        )}
      </header>
      {error && <p className="tree-none">{missing(error)}</p>}
      {data === null && <p className="tree-none">{t("time.notThere")}</p>}
      {data === undefined && !error && <p className="tree-none">{t("page.reading")}</p>}
      {data && <Content data={data} diff={step?.diff ?? ""} />}
    </section>
  );
}

function missing(error: Error): string {
  const gone = error instanceof Refusal && error.problem.code === "not_found";
  return gone ? t("time.notThere") : error.message;
}

function Content({ data, diff }: { data: ArrayBuffer; diff: string }) {
  const read = useMemo(() => textOf(data), [data]);
  const pieces = useMemo(() => piecesOf(read?.text ?? "", addedLines(diff)), [read, diff]);
  if (!read) return <p className="tree-none">{t("time.noText")}</p>;
  if (read.text === "") return <p className="tree-none">{t("time.emptyFile")}</p>;
  const lines = read.text.split("\n").length - (read.text.endsWith("\n") ? 1 : 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="file-text scroll" tabIndex={0} aria-label={t("time.text")}>
      <pre aria-hidden className="file-numbers">
        {Array.from({ length: lines }, (_, i) => i + 1).join("\n")}
      </pre>
      <pre>
        {pieces.map((p, i) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never change places
          p.added ? <ins key={i}>{p.text}</ins> : p.text,
        )}
      </pre>
      {read.cut && <p className="tree-none">{t("time.cutFile")}</p>}
    </section>
  );
}
