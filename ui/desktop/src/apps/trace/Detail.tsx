import { useQuery } from "@tanstack/react-query";
import { unawaited } from "#base/kit/unawaited.ts";
import { span } from "../../domain/time";
import type { Content, Step } from "../../domain/trace";
import { useWords } from "../../i18n/words";
import { Loading, Trouble } from "../../kit/States";
import { useStore } from "../../state/store";
import { api } from "../../transport/api";
import { words } from "./i18n";

/** One step whole: who, how long, how much, and its exact input and output. */
export function Detail({ step }: { step: Step | undefined }) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="trace-detail scroll" aria-label={t("detail")} tabIndex={0}>
      {step ? (
        <>
          <h3>{step.title}</h3>
          <dl>
            <dt>{t("who")}</dt>
            <dd>{t(step.who)}</dd>
            <dt>{t("took")}</dt>
            <dd>
              {step.to === undefined ? t("going") : span(step.to - step.from, language)}
              {step.recorded && ` (${t("recorded")})`}
            </dd>
            {step.tokens && (
              <>
                <dt>{t("tokens")}</dt>
                <dd>{t("tokensOf", step.tokens)}</dd>
              </>
            )}
          </dl>
          {step.content.map((c) => (
            <Part key={`${step.id} ${c.is} ${c.blob ?? "here"}`} content={c} />
          ))}
        </>
      ) : (
        <p className="trace-choose">{t("choose")}</p>
      )}
    </section>
  );
}

function Part({ content }: { content: Content }) {
  const t = useWords(words);
  return (
    <>
      <h4>{t(content.is)}</h4>
      {content.blob ? <FromBlob digest={content.blob} /> : <pre>{content.text}</pre>}
    </>
  );
}

function FromBlob({ digest }: { digest: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["blob", digest],
    queryFn: () => api.blob(digest),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <Trouble error={error} onAgain={() => unawaited(refetch())} />;
  return data === undefined ? <Loading /> : <pre>{indented(data)}</pre>;
}

/** JSON is easier to read on several lines. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
