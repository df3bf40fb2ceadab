import { useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useState } from "react";
import type { Story, VersionStory } from "#base/domain/story.ts";
import { Button } from "#base/kit/Button.tsx";
import { Markdown } from "#base/kit/Markdown.tsx";
import { When } from "../../kit/When";
import { useSession } from "../../session/session";
import { t } from "../../words/late";

/** The run's living document: the newest version, or an earlier one. */
export function Document({ story }: { story: Story }) {
  // Undefined follows the newest version.
  const [chosen, setChosen] = useState<number>();
  const doc = story.document;
  if (!doc) return <NoDocument story={story} />;
  const last = doc.versions.length - 1;
  const at = Math.min(chosen ?? last, last);
  const version = doc.versions[at];
  if (!version) return null;
  const about = version.note ?? (version.version === 0 ? t("runs.asAsked") : "");
  const go = (to: number) => setChosen(to >= last ? undefined : Math.max(0, to));
  return (
    <article className="document" aria-label={doc.title}>
      <div className="document-versions">
        <Button
          look="quiet"
          className="button-icon"
          aria-label={t("runs.earlierVersion")}
          disabled={at === 0}
          onClick={() => go(at - 1)}
        >
          <ChevronLeft size={17} aria-hidden />
        </Button>
        <span className="document-label">
          {t("runs.versionOf", { version: String(version.version), last: String(doc.versions.at(-1)?.version) })}
        </span>
        <Button
          look="quiet"
          className="button-icon"
          aria-label={t("runs.laterVersion")}
          disabled={at === last}
          onClick={() => go(at + 1)}
        >
          <ChevronRight size={17} aria-hidden />
        </Button>
        <span className="document-note">
          {about && `${about} · `}
          <When time={version.at} />
        </span>
        {chosen !== undefined && (
          <Button look="quiet" onClick={() => setChosen(undefined)}>
            {t("runs.newest")}
          </Button>
        )}
      </div>
      <Body document={doc.id} version={version} />
    </article>
  );
}

/** A version's text; large ones are fetched. */
function Body({ document, version }: { document: string; version: VersionStory }) {
  const session = useSession();
  const { data, error } = useQuery({
    queryKey: ["document", document, version.version],
    enabled: version.content === undefined,
    queryFn: () => session.api.document(document, version.version),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <p className="run-reading">{error.message}</p>;
  const text = version.content ?? data?.content;
  return text === undefined ? <p className="run-reading">{t("page.reading")}</p> : <Markdown text={text} />;
}

/** A run that was answered without a document, or has none yet. */
function NoDocument({ story }: { story: Story }) {
  const answer = story.finished?.answer || story.toasts.at(-1)?.text;
  return (
    <article className="document" aria-label={t("runs.prompt")}>
      <h1 className="document-prompt">{story.prompt}</h1>
      {answer && <Markdown text={answer} />}
      {!story.finished && <p className="run-reading">{t("runs.directorReads")}</p>}
    </article>
  );
}
