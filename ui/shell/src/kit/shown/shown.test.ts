import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createElement, type FunctionComponent } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { toast } from "sonner";
import { describe, expect, it } from "vitest";
import { emptyStory } from "#base/domain/story.ts";
import type { Mark, Run } from "#base/domain/views.ts";
import { Badge } from "#base/kit/Badge.tsx";
import { DiffView } from "#base/kit/DiffView.tsx";
import MarkdownRendered from "#base/kit/MarkdownRendered.tsx";
import { notifyAnswer, notifyProblem, showMessages } from "#base/kit/notify.ts";
import { QuestionCard } from "../../apps/run/QuestionCard";
import { Said } from "../../apps/run/Said";
import { RunList } from "../../apps/runs/RunList";
import { MarkRow } from "../../apps/timeline/MarkRow";
import { TaskCard } from "../../apps/work/TaskCard";
import { type Session, SessionContext } from "../../session/session";
import { useStore } from "../../state/store";

/** A name with every kind of character that is not seen or makes others look different. */
const NAME =
  "\x1b[2J\x1b]0;T\x07\x00\x7f\x85\x9b\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202eexe.\u2066\u2067\u2068\u2069end\rX";
const SHOWN =
  "\\x1b[2J\\x1b]0;T\\x07\\x00\\x7f\\x85\\x9b\\u061c\\u200e\\u200f\\u202a\\u202b\\u202c\\u202d\\u202eexe.\\u2066\\u2067\\u2068\\u2069end\\x0dX";

/** What a part of the shell is drawn as. */
function draw<P extends object>(part: FunctionComponent<P>, props: P): string {
  const session = { addressOf: () => "/", go: () => {} } as unknown as Session;
  return renderToStaticMarkup(
    createElement(
      QueryClientProvider,
      { client: new QueryClient() },
      createElement(SessionContext, { value: session }, createElement(part, props)),
    ),
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const bad = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

const at = "2026-11-22T12:00:00Z";

describe("a name of a guest with all of them", () => {
  const task = {
    task: { instruction: NAME, kind: "run" },
    attempt: 1,
    state: "started",
    tools: [],
    notes: [{ at, text: NAME }],
    checkpoint: { subject: NAME },
  } as unknown as Parameters<typeof TaskCard>[0]["task"];
  const mark = {
    seq: 1,
    at,
    kind: "prompt",
    prompt: NAME,
    text: NAME,
    told: { sentence: "asked", about: [NAME] },
  } as unknown as Mark;
  it.each([
    ["a question", () => draw(QuestionCard, { run: "r", question: { id: "q", text: NAME, choices: [NAME] } })],
    ["a task", () => draw(TaskCard, { task })],
    ["what the Associate said last", () => draw(Said, { story: { ...emptyStory("r"), tasks: [task] } })],
    [
      "what a model said unchecked",
      () => draw(Said, { story: { ...emptyStory("r"), finished: { outcome: "failed", answer: "", said: NAME } } }),
    ],
    ["the timeline", () => draw(MarkRow, { mark, inRun: false, chosen: false, marks: [mark] })],
    [
      "a document",
      () => draw(MarkdownRendered, { text: `# ${NAME.replaceAll("[", "\\[")} &#x202e;&#x9b; \`${NAME}\` <b>` }),
    ],
    ["a badge of base", () => draw(Badge, { title: NAME, children: NAME })],
    [
      "a diff of base",
      () => draw(DiffView, { text: `--- a/x\n+++ b/x\n@@ -1 +1 @@\n+${NAME.replaceAll("\r", "")}\n` }),
    ],
  ])("is seen in %s", (_, drawn) => {
    const html = drawn();
    expect(html).not.toMatch(bad);
    expect(html).toContain("\\u202eexe.");
  });

  it("is said no longer than people read, and no more once its task has returned", () => {
    const drawn = (state: string, text: string) =>
      draw(Said, {
        story: { ...emptyStory("r"), tasks: [{ ...task, state, notes: [{ at, text, kind: "progress" }] }] } as never,
      });
    expect(drawn("started", "w".repeat(9000)).match(/w+/g)?.toSorted().at(-1)).toHaveLength(1200);
    expect(drawn("returned", "words")).toBe("");
  });

  it("is seen whole", () => expect(draw(TaskCard, { task })).toContain(SHOWN));

  it("is seen in what base says in passing", () => {
    showMessages(toast);
    notifyAnswer(NAME);
    notifyProblem(new Error(NAME));
    for (const said of toast.getToasts()) expect("title" in said && said.title).toBe(SHOWN);
    expect(toast.getToasts()).toHaveLength(2);
  });

  it("is seen in the list of runs", () => {
    // What is drawn without a browser is drawn of the store as it began.
    Object.assign(useStore.getInitialState(), {
      runs: [{ id: "r", prompt: NAME, state: "running", started: at, seq: 1 } as unknown as Run],
    });
    const html = draw(RunList, {} as never);
    expect(html).not.toMatch(bad);
    expect(html).toContain("\\u202eexe.");
  });
});
