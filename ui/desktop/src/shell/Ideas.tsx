import { useQuery } from "@tanstack/react-query";
import { FileText, KeyRound, Play } from "lucide-react";
import { useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { type Idea, ideasOf } from "../domain/ideas";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { useSession } from "../session/session";
import { useStore } from "../state/store";
import { documents as docs } from "../transport/documents";
import { tellShell } from "../transport/shell";
import { useProjects } from "./Project";

/** Documents that are listed. */
const RECENT = 3;

const asks = {
  explain: "ideaExplain",
  improve: "ideaImprove",
  summarise: "ideaSummarise",
  page: "ideaPage",
  colour: "ideaColour",
  clock: "ideaClock",
} as const satisfies Record<Idea["is"], string>;

/** What an empty desktop offers: words to try, the newest documents, and what to do without a model. */
export default function Ideas() {
  const t = useWords(deskWords);
  const { windows, demo } = useSession();
  const [starting, setStarting] = useState(false);
  const show = async () => {
    setStarting(true);
    // The button is gone once the first window is there.
    document.getElementById("prompt")?.focus();
    await demo.start().catch(notifyProblem);
    setStarting(false);
  };
  const projects = useProjects();
  const putWords = useStore((s) => s.putWords);
  const models = useStore((s) => s.computer?.models);
  const unconnected = models && !models.connected;
  const { data: documents = [] } = useQuery({ queryKey: ["documents", "recent"], queryFn: docs.list });
  const recent = [...documents].sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, RECENT);
  return (
    <div className="ideas">
      <section className="ideas-model" aria-label={t(unconnected ? "noModel" : "showDemo")}>
        {unconnected && (
          <>
            <p>{t("noModelHint")}</p>
            <Button look="primary" onClick={() => tellShell({ kind: "open", page: "models" })}>
              <KeyRound size={15} aria-hidden /> {t("connectModel")}
            </Button>
          </>
        )}
        <Button disabled={starting} onClick={() => unawaited(show())}>
          <Play size={15} aria-hidden /> {t(starting ? "startingDemo" : "showDemo")}
        </Button>
      </section>
      <ul className="ideas-prompts" aria-label={t("ideas")}>
        {ideasOf(projects, recent).map((idea) => {
          const text = t(asks[idea.is], { name: idea.name });
          return (
            <li key={idea.is}>
              <button type="button" onClick={() => putWords({ text, repo: idea.repo, over: true })}>
                {text}
              </button>
            </li>
          );
        })}
      </ul>
      {recent.length > 0 && (
        <ul className="ideas-recent" aria-label={t("recentDocuments")}>
          {recent.map((doc) => (
            <li key={doc.id}>
              <Button look="quiet" onClick={() => unawaited(windows.openSubject(`document:${doc.id}`))}>
                <FileText size={15} aria-hidden /> <span>{doc.title}</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
