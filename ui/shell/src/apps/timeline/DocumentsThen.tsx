import { useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSession } from "../../app/session";
import { compareText } from "../../domain/lines";
import type { Moment } from "../../domain/views";
import { DiffView } from "../../kit/DiffView";
import { Markdown } from "../../kit/Markdown";
import { useStore } from "../../state/store";

type Doc = Moment["documents"][number];

function useVersion(id: string, version: number) {
  const session = useSession();
  return {
    queryKey: ["document", id, version],
    queryFn: () => session.api.document(id, version),
    staleTime: Number.POSITIVE_INFINITY,
  };
}

/** The documents at the versions they had. */
export function DocumentsThen({ moment }: { moment: Moment }) {
  const [asked, setAsked] = useState<string>();
  const { documents } = moment;
  const shown = documents.find((d) => d.id === asked) ?? documents.at(-1);
  if (!shown) return <p className="side-none">There was no document yet.</p>;
  return (
    <div className="tree-view">
      <nav className="tree scroll" aria-label="Documents then">
        <ul>
          {documents.map((d) => (
            <li key={d.id}>
              <button
                type="button"
                className="tree-row"
                aria-current={d === shown ? "true" : undefined}
                onClick={() => setAsked(d.id)}
              >
                <span className="tree-name">{d.title}</span>
                <span className="tree-sign">v{d.version}</span>
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <Version document={shown} />
    </div>
  );
}

function Version({ document }: { document: Doc }) {
  const { data, error } = useQuery({ ...useVersion(document.id, document.version), placeholderData: (d) => d });
  return (
    <article className="document-then scroll" aria-label={document.title}>
      {error && <p className="side-none">{error.message}</p>}
      {data ? <Markdown text={data.content ?? ""} /> : !error && <p className="side-none">Reading…</p>}
    </article>
  );
}

/** The documents that are at another version now, or new. */
export function DocumentsChanged({ moment }: { moment: Moment }) {
  const session = useSession();
  const head = useStore((s) => s.marksHead);
  const { data: now } = useQuery({
    queryKey: ["moment", head],
    queryFn: () => session.api.moment(head),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const then = new Map(moment.documents.map((d) => [d.id, d]));
  const changed = (now?.documents ?? []).filter((d) => then.get(d.id)?.version !== d.version);
  return changed.map((d) => <DocumentChange key={d.id} now={d} then={then.get(d.id)} />);
}

function DocumentChange({ now, then }: { now: Doc; then: Doc | undefined }) {
  const latest = useVersion(now.id, now.version);
  const first = useVersion(now.id, then?.version ?? 0);
  const [a, b] = useQueries({ queries: [{ ...first, enabled: then !== undefined }, latest] });
  const before = then ? a?.data?.content : "";
  const after = b?.data?.content;
  const title = `${now.title} (${then ? `v${then.version}` : "not yet there"} → v${now.version})`;
  if (before === undefined || after === undefined) return <p className="side-none">Comparing {title}…</p>;
  return <DiffView text={compareText(title, before, after)} />;
}
