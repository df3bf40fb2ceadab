import { names } from "#base/domain/names.ts";
import { Button } from "#base/kit/Button.tsx";
import { FixIt } from "../../actions/FixIt";
import type { Source } from "../../domain/source";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";

/** Says what is wrong with the desktop, in words of the shell's own; empty when nothing is. */
function trouble(silent: boolean, source: Source | undefined): string {
  if (source?.mode === "broken") return `${source.error}. The desktop that came with choir is shown.`;
  if (source?.broke) return `A change of the desktop's source broke ${source.broke.file || "it"}.`;
  if (source?.error) return `A change of the desktop's source broke ${source.file || "it"}.`;
  if (silent) return "The desktop does not answer. Your files, runs and documents are not affected.";
  return "";
}

/** What to do about a desktop that does not answer, or whose source is broken. */
export function Silent() {
  const session = useSession();
  const said = useStore((s) => trouble(s.frame === "silent", s.source));
  if (!said) return null;
  return (
    <div className="desktop-silent" role="alert">
      <p>{said}</p>
      <Button look="primary" onClick={() => session.go({ page: "recover" })}>
        {names.recover.en}
      </Button>
      <FixIt />
      <Button onClick={() => session.go({ page: "runs" })}>{names.runs.en}</Button>
    </div>
  );
}
