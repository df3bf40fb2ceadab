import { Copy } from "lucide-react";
import { Button } from "#base/kit/Button.tsx";
import { notifyDone, notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import type { Settings } from "../../domain/settings";
import { Sentence } from "../../kit/Sentence";
import { t } from "../../words/late";

const exampleIn = (kind: string, address: string) => `[models]
director = "claude/claude-sonnet-4-5"
associate = "claude/claude-sonnet-4-5"

[[models.provider]]
name = "claude"
kind = "anthropic"   # ${kind}
# base_url = "https://models.example/v1"   # ${address}
key_file = "/home/me/.config/choir/anthropic.key"
`;

/** The same in choir.toml, and which of the two is in force. */
export function InFile({ settings }: { settings: Settings }) {
  const example = exampleIn(t("models.exampleKind"), t("models.exampleAddress"));
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(example);
      notifyDone(t("models.copied"));
    } catch (error) {
      notifyProblem(error);
    }
  };
  return (
    <section className="settings-infile">
      <h2>{t("models.inFile")}</h2>
      <p>
        <Sentence of="models.inFileMore" holes={{ file: settings.file }} />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{example}</pre>
      <p>
        <Button onClick={() => unawaited(copy())}>
          <Copy size={15} aria-hidden /> {t("models.copy")}
        </Button>
      </p>
    </section>
  );
}
