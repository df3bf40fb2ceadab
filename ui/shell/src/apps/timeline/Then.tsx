import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Moment } from "#base/domain/views.ts";
import { runsThen } from "../../domain/marks";
import { Tabs } from "../../kit/Tabs";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";
import { Compare } from "./Compare";
import { DesktopThen } from "./DesktopThen";
import { DocumentsThen } from "./DocumentsThen";
import { FilesThen } from "./FilesThen";
import { RunsThen } from "./RunsThen";

type Part = "desktop" | "files" | "documents" | "runs" | "compare";

/** The computer at a moment, part by part; nothing here changes anything. */
export function Then({ moment, past, before }: { moment: Moment; past: boolean; before: number | undefined }) {
  const session = useSession();
  const runs = useStore((s) => s.runs);
  const head = useStore((s) => s.marksHead);
  const [chosen, setChosen] = useState<Part>("desktop");
  const since = useQuery({
    queryKey: ["diff", moment.seq, 0, head],
    queryFn: () => session.api.moments.diff(moment.seq, 0),
    enabled: past && moment.snapshot !== undefined && !moment.collected,
    placeholderData: (shown) => shown,
  });
  const then = runsThen(runs, moment.seq, moment.at);
  const desktop = moment.windows.length + moment.settings.length;
  const tabs: { id: Part; title: string; count?: number }[] = [
    ...(desktop ? [{ id: "desktop" as const, title: t("bar.desktop"), count: moment.windows.length }] : []),
    { id: "files", title: t("time.files") },
    { id: "documents", title: t("time.documents"), count: moment.documents.length },
    { id: "runs", title: t("time.runs"), count: then.length },
    { id: "compare", title: t("time.compare"), count: past ? (since.data?.files.length ?? 0) : 0 },
  ];
  const part = tabs.some((tab) => tab.id === chosen) ? chosen : "files";
  return (
    <div className="then">
      <Tabs<Part> label={t("time.parts")} panel="then-panel" tabs={tabs} chosen={part} onChoose={setChosen} />
      <div
        id="then-panel"
        role="tabpanel"
        aria-label={tabs.find((tab) => tab.id === part)?.title}
        className={`then-panel then-${part}`}
      >
        {part === "files" && <FilesThen moment={moment} since={past ? since.data : undefined} before={before} />}
        {part === "documents" && <DocumentsThen moment={moment} />}
        {part === "runs" && <RunsThen runs={then} />}
        {part === "desktop" && <DesktopThen moment={moment} />}
        {part === "compare" && <Compare moment={moment} past={past} since={since} before={before} />}
      </div>
    </div>
  );
}
