import { Check, LoaderCircle, X } from "lucide-react";
import type { ToolStory } from "#base/domain/story.ts";
import { toolWords } from "../../domain/sentence";
import { span } from "../../domain/time";
import { t } from "../../words/late";

/** Tool calls as they run: all while the task works, folded away after. */
export function ToolList({ tools, running }: { tools: readonly ToolStory[]; running: boolean }) {
  if (tools.length === 0) return null;
  return (
    <details className="tools" open={running}>
      <summary>{t("work.toolCalls", { n: tools.length })}</summary>
      <ol>
        {tools.map((tool) => (
          <Tool key={tool.call} tool={tool} />
        ))}
      </ol>
    </details>
  );
}

function Tool({ tool }: { tool: ToolStory }) {
  return (
    <li>
      <details className="tool">
        <summary>
          {tool.ok === undefined ? (
            <LoaderCircle size={14} className="spin" role="img" aria-label={t("work.running")} />
          ) : tool.ok ? (
            <Check size={14} role="img" aria-label={t("work.done")} />
          ) : (
            <X size={14} role="img" aria-label={tool.code ?? t("work.failed")} />
          )}
          <span className="tool-words">{toolWords(tool.tool, tool.input)}</span>
          {tool.durationMs !== undefined && <span className="task-time">{span(tool.durationMs)}</span>}
        </summary>
        {tool.code && <p className="tool-code">{tool.code.replaceAll("_", " ")}</p>}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
        {tool.output && <pre tabIndex={0}>{tool.output.slice(-6000)}</pre>}
      </details>
    </li>
  );
}
