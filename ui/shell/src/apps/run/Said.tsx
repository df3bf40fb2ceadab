import type { Story } from "#base/domain/story.ts";
import { useStore } from "../../state/store";
import { t } from "../../words/late";

/** How much of somebody's words is shown, in characters. */
const MOST = 1200;

/** What is said right now, or was said last while the run works; of one that has ended, what its model said unchecked. */
export function Said({ story }: { story: Story }) {
  const live = useStore((s) => s.live[story.run]);
  if (story.finished) {
    const { said } = story.finished;
    return said ? <Words of={t("runs.saidUnchecked")} text={said.slice(0, MOST)} /> : null;
  }
  // The log has what streams once it is whole.
  const spoken = Object.entries(live ?? {}).filter(([, text]) => text.trim() !== "");
  const note = live?.associate?.trim() ? undefined : noteOf(story);
  return (
    <>
      {note && <Words of={t("runs.associateLast")} text={note.slice(0, MOST)} />}
      {spoken.map(([role, text]) => (
        <Words key={role} of={speakerOf(role)} text={text.slice(-MOST)} />
      ))}
    </>
  );
}

const speakers = { director: "runs.directorLive", associate: "runs.associateLive" } as const;

function speakerOf(role: string): string {
  return Object.hasOwn(speakers, role) ? t(speakers[role as keyof typeof speakers]) : role;
}

/** The newest words of the Associate on the task that it works on. */
function noteOf({ tasks }: Story): string | undefined {
  const task = tasks.at(-1);
  return task && task.state !== "returned" ? task.notes.at(-1)?.text : undefined;
}

function Words({ of, text }: { of: string; text: string }) {
  return (
    <figure className="run-live">
      <figcaption>{of}</figcaption>
      <p>{text}</p>
    </figure>
  );
}
