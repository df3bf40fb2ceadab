import { names } from "#base/domain/names.ts";
import { named } from "#base/domain/words.ts";
import { Button } from "#base/kit/Button.tsx";
import { FixIt } from "../../actions/FixIt";
import type { Source } from "../../domain/source";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/words";

/** Says what is wrong with the desktop, in words of the shell's own; empty when nothing is. */
function trouble(silent: boolean, source: Source | undefined): string {
  if (source?.mode === "broken") return t("desktop.brokenSource", { error: source.error ?? "" });
  if (source?.broke) return broken(source.broke.file);
  if (source?.error) return broken(source.file);
  if (silent) return t("desktop.silent");
  return "";
}

function broken(file: string | undefined): string {
  return file ? t("desktop.broke", { file }) : t("desktop.brokeIt");
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
        {named(names.recover)}
      </Button>
      <FixIt />
      <Button onClick={() => session.go({ page: "runs" })}>{named(names.runs)}</Button>
    </div>
  );
}
