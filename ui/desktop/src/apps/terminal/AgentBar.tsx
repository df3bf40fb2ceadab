import type { Time } from "#base/domain/contracts.ts";
import { Button } from "#base/kit/Button.tsx";
import { clock } from "../../domain/time";
import { useWords } from "../../i18n/words";
import { useStore } from "../../state/store";
import type { Agent } from "../../transport/terminals";
import { words } from "./i18n";
import type { Ended } from "./useTerminals";

interface Props {
  agent: Agent;
  since: Time;
  end: Ended | undefined;
  onEnd(): void;
}

/** What an agent's command is for, with a button that ends it; afterwards how it ended. */
export function AgentBar({ agent, since, end, onEnd }: Props) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  const ended = () => {
    if (!end) return "";
    const time = clock(end.at, Date.now(), language);
    if (end.reason === "lost") return t("agentLost", { time });
    return end.signal ? t("agentSignalled", { time, signal: end.signal }) : t("agentEnded", { time, code: end.code });
  };
  return (
    <div className="terminal-agent">
      <p role="status">{end ? ended() : t("agentSince", { time: clock(since, Date.now(), language) })}</p>
      <p title={agent.title}>{t("agentTask", { title: agent.title })}</p>
      {!end && (
        <Button look="danger" onClick={onEnd}>
          {t("agentEnd")}
        </Button>
      )}
    </div>
  );
}
