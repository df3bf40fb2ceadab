import { Download, Workflow } from "lucide-react";
import { useEffect, useState } from "react";
import { shortened } from "#base/domain/text.ts";
import { OfferButton } from "../../actions/OfferButton";
import { span } from "../../domain/time";
import { traceLines, traceMarkdown } from "../../domain/trace";
import { useWords } from "../../i18n/words";
import { late } from "../../kit/late";
import { MenuButton } from "../../kit/Menu";
import { Empty, Gone, Loading, Trouble } from "../../kit/States";
import { saveAs } from "../../kit/saveAs";
import { useWindow } from "../../session/useWindow";
import { useStore } from "../../state/store";
import { Detail } from "./Detail";
import { words } from "./i18n";
import { Steps } from "./Steps";
import { useTrace } from "./useTrace";
import "./trace.css";

// The graph is half of the app, and most look at the steps.
const Graph = late(
  () => import("./Graph"),
  () => <Loading />,
);

/** What a run did: every step with its exact input and output. */
export default function Trace() {
  const { subject, title, show } = useWindow();
  const t = useWords(words);
  const runs = useStore((s) => s.runs);
  const run = subject.replace(/^run:/, "") || runs[0]?.id;
  const { events, trace, error, retry } = useTrace(run);
  const [look, setLook] = useState<"steps" | "graph">("steps");
  const [chosen, setChosen] = useState<string>();
  const known = runs.find((r) => r.id === run);
  const prompt = shortened(known?.prompt ?? "", 80);
  useEffect(() => {
    if (run && (title !== prompt || !subject)) show(`run:${run}`, prompt);
  }, [run, title, prompt, subject, show]);
  if (!run) {
    return (
      <Empty icon={<Workflow size={38} strokeWidth={1.4} aria-hidden />} title={t("none")}>
        {t("noneMore")}
      </Empty>
    );
  }
  const step = trace?.steps.find((s) => s.id === chosen);
  const save = (format: "markdown" | "jsonl") => {
    if (!trace || !events) return;
    if (format === "markdown") saveAs(`run-${run}.md`, traceMarkdown(trace), "text/markdown");
    else saveAs(`run-${run}.jsonl`, traceLines(events), "application/jsonl");
  };
  return (
    <div className="app trace">
      <div className="app-tools">
        <select
          className="field trace-run"
          aria-label={t("run")}
          value={run}
          onChange={(e) => show(`run:${e.target.value}`)}
        >
          {runs.map((r) => (
            <option key={r.id} value={r.id}>
              {shortened(r.prompt, 80)}
            </option>
          ))}
        </select>
        <fieldset className="trace-looks">
          <legend className="visually-hidden">{t("look")}</legend>
          {(["steps", "graph"] as const).map((l) => (
            <button key={l} type="button" className="tool" aria-pressed={look === l} onClick={() => setLook(l)}>
              {t(l)}
            </button>
          ))}
        </fieldset>
        <MenuButton
          entries={(["markdown", "jsonl"] as const).map((f) => ({
            id: f,
            label: t("saveAs", { format: t(f) }),
            run: () => save(f),
          }))}
        >
          <button type="button" className="tool" aria-label={t("saveAs", { format: "…" })}>
            <Download size={16} aria-hidden />
          </button>
        </MenuButton>
        {known && (
          <OfferButton
            matter={{
              kind: "run",
              id: known.id,
              prompt: known.prompt,
              failed: known.state === "failed",
              answer: known.answer ?? "",
            }}
          />
        )}
      </div>
      {error ? (
        <Trouble error={error} onAgain={retry} />
      ) : events?.length === 0 ? (
        <Gone never={t("never")} onAgain={retry} />
      ) : trace ? (
        <div className="trace-body">
          {look === "steps" ? (
            <Steps trace={trace} chosen={chosen} onChoose={setChosen} />
          ) : (
            <Graph trace={trace} chosen={chosen} onChoose={setChosen} />
          )}
          <Detail step={step} />
        </div>
      ) : (
        <Loading />
      )}
      {trace && trace.steps.length > 0 && <Totals trace={trace} />}
    </div>
  );
}

function Totals({ trace }: { trace: NonNullable<ReturnType<typeof useTrace>["trace"]> }) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  return (
    <footer className="app-status">
      {t("totals", {
        span: span(trace.span, language),
        input: trace.tokens.input,
        output: trace.tokens.output,
        cost: trace.cost.toLocaleString(language, { minimumFractionDigits: 2, maximumFractionDigits: 4 }),
      })}
    </footer>
  );
}
