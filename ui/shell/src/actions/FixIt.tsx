import { Wrench } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { brokenOf, fixPrompt } from "../domain/fix";
import { useSession } from "../session/session";
import { useStore } from "../state/store";
import { t } from "../words/words";

/** Has a broken desktop fixed: by the run that broke it while it works, else by a new one. */
export function FixIt() {
  const session = useSession();
  const source = useStore((s) => s.source);
  const silent = useStore((s) => s.frame === "silent");
  const [busy, setBusy] = useState(false);
  const key = useRef(crypto.randomUUID());
  const broken = brokenOf(source, silent);
  if (!broken) return null;
  const fix = async () => {
    setBusy(true);
    try {
      await session.fix(broken.open ? broken.run : undefined, fixPrompt(broken), key.current);
    } catch (error) {
      setBusy(false);
      notifyProblem(error);
    }
  };
  return (
    <Button disabled={busy} onClick={() => unawaited(fix())}>
      <Wrench size={15} aria-hidden /> {broken.open ? t("desktop.tellRun") : t("desktop.fixIt")}
    </Button>
  );
}
