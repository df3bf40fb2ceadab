import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Moment } from "#base/domain/views.ts";
import { Markdown } from "#base/kit/Markdown.tsx";
import { useSession } from "../../session/session";
import { t } from "../../words/late";

type Doc = Moment["documents"][number];

/** The documents at the versions they had. */
export function DocumentsThen({ moment }: { moment: Moment }) {
  const [asked, setAsked] = useState<string>();
  const { documents } = moment;
  const shown = documents.find((d) => d.id === asked) ?? documents.at(-1);
  if (!shown) return <p className="side-none">{t("time.noDocument")}</p>;
  return (
    <div className="tree-view">
      <nav className="tree scroll" aria-label={t("time.documentsThen")}>
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
  const session = useSession();
  const { data, error } = useQuery({
    queryKey: ["document", document.id, document.version],
    queryFn: () => session.api.document(document.id, document.version),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <article className="then-document scroll" aria-label={document.title} tabIndex={0}>
      {error && <p className="side-none">{error.message}</p>}
      {data ? <Markdown text={data.content ?? ""} /> : !error && <p className="side-none">{t("page.reading")}</p>}
    </article>
  );
}
