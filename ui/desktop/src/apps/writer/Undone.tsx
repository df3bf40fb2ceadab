import type { ID } from "#base/domain/contracts.ts";
import { Button } from "#base/kit/Button.tsx";
import { clock } from "../../domain/time";
import { useWords } from "../../i18n/words";
import { useStore } from "../../state/store";
import { tellShell } from "../../transport/shell";
import { Banner } from "./Banner";
import { words } from "./i18n";

/** Says over the document of a run that what the run changed was undone: its text still tells how the run ended. */
export function Undone({ run }: { run: ID | undefined }) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  const undone = useStore((s) => s.runs.find((r) => r.id === run)?.undone);
  if (!undone) return null;
  const show = () => tellShell({ kind: "open", page: "timeline", seq: undone.seq });
  return (
    <Banner look="plain" buttons={<Button onClick={show}>{t("onTheTimeline")}</Button>}>
      {t("undone", { time: clock(undone.at, Date.now(), language) })}
    </Banner>
  );
}
