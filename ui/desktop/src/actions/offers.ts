import type { ID, ProposalTarget } from "#base/domain/contracts.ts";
import { names } from "#base/domain/names.ts";
import { defineWords } from "../i18n/words";
import type { Session } from "../session/session";
import { tellShell } from "../transport/shell";

/** Something that work can be asked about without typing a prompt. */
export type Matter =
  | { kind: "document"; id: ID; title: string; text: string; propose?: Propose }
  | { kind: "file"; path: string }
  | { kind: "selection"; of: string; text: string; propose?: Propose }
  | { kind: "terminal"; title: string; output: string }
  | { kind: "run"; id: ID; prompt: string; failed: boolean; answer: string };

/** Where an answer is proposed that takes the place of a text, or goes on behind it. */
export type Propose = (how: "instead" | "behind") => ProposalTarget;

/** What an agent is asked for, in the product's own words. */
export interface Order {
  instruction: string;
  scope: string;
  criteria: readonly string[];
  /** The answer is proposed there, instead of standing by itself. */
  proposal?: ProposalTarget | undefined;
}

/** One thing that is offered for a matter. */
export interface Offer {
  id: "summarize" | "explain" | "fix" | "continue" | "compare" | "undo";
  title: keyof (typeof offerWords)["en"];
  /** The order for a matter; undefined when it makes no sense for it. */
  order?(matter: Matter): Order | undefined;
  /** Asks the shell instead: only the owner may do it. */
  shell?(matter: Matter): boolean;
}

export const offerWords = defineWords({
  en: {
    ask: names.askAI.en,
    summarize: "Summarize",
    explain: "Explain",
    fix: "Fix",
    continue: "Continue",
    compare: "Compare",
    undo: "Undo",
    asked: "Asked. The answer rises above the prompt.",
  },
  de: {
    ask: names.askAI.de,
    summarize: "Zusammenfassen",
    explain: "Erklären",
    fix: "Reparieren",
    continue: "Weiterschreiben",
    compare: "Abgleichen",
    undo: "Zurücknehmen",
    asked: "Gefragt. Die Antwort erscheint über dem Eingabefeld.",
  },
});

/** How much of a text goes into a prompt, in characters; a prompt has room for 20,000. */
const ROOM = 12_000;

function quoted(text: string): string {
  const part = text.length > ROOM ? `${text.slice(0, ROOM)}\n[cut after ${ROOM} of ${text.length} characters]` : text;
  return `<<<\n${part}\n>>>`;
}

/** What a matter is, in the words of a prompt. */
function named(m: Matter): string {
  switch (m.kind) {
    case "document":
      return `the document “${m.title}”`;
    case "file":
      return `the file ${m.path}`;
    case "selection":
      return `the selected part of ${m.of}`;
    case "terminal":
      return `the output of the terminal “${m.title}”`;
    case "run":
      return `the ${m.failed ? "failed run" : "run"} that was asked: “${m.prompt.slice(0, 400)}”`;
  }
}

/** Where an agent finds it: in the workspace, or in the prompt itself. */
function scopeOf(m: Matter): string {
  switch (m.kind) {
    case "document":
    case "selection":
      return `Only this text; change no file.\n${quoted(m.text)}`;
    case "file":
      return `Only ${m.path}, and what it needs to be understood.`;
    case "terminal":
      return `The end of what it printed.\n${quoted(m.output.slice(-ROOM))}`;
    case "run":
      return `The workspace as it is now, and how that run ended: ${m.answer.slice(0, 2000) || "without an answer"}`;
  }
}

/** The order to correct a text; none for one that an answer has no room for, or that nothing can be proposed over. */
function corrected(m: Extract<Matter, { kind: "document" | "selection" }>): Order | undefined {
  if (!m.propose || m.text.trim() === "" || m.text.length > ROOM) return undefined;
  return {
    instruction: `Correct the spelling, the grammar and what is unclear in ${named(m)}.`,
    scope: scopeOf(m),
    criteria: [
      "only the corrected text is answered, whole, as Markdown",
      "its meaning, its voice and its marks are kept, and what was right stays word for word",
    ],
    proposal: m.propose("instead"),
  };
}

/** Everything that is offered, in the order of the menus. */
export const offers: readonly Offer[] = [
  {
    id: "summarize",
    title: "summarize",
    order: (m) => ({
      instruction: `Summarize ${named(m)} in at most seven sentences.`,
      scope: scopeOf(m),
      criteria: ["every claim of the summary stands in the text", "no file is changed"],
    }),
  },
  {
    id: "explain",
    title: "explain",
    order: (m) => ({
      instruction: `Explain ${named(m)} to someone who sees it for the first time.`,
      scope: scopeOf(m),
      criteria: ["what it is for and how it works is said in plain words", "no file is changed"],
    }),
  },
  {
    id: "fix",
    title: "fix",
    order: (m) => {
      if (m.kind === "document" || m.kind === "selection") return corrected(m);
      if (m.kind === "run" && !m.failed) return undefined;
      return {
        instruction: `Fix ${m.kind === "file" ? `what is wrong in ${named(m)}` : `the cause of the failure in ${named(m)}`}.`,
        scope: scopeOf(m),
        criteria: ["the cause is named", "the change is as small as it can be", "the project's own checks pass"],
      };
    },
  },
  {
    id: "continue",
    title: "continue",
    order: (m) => {
      if (m.kind === "file" || m.kind === "terminal") return undefined;
      return {
        instruction:
          m.kind === "run"
            ? `Continue ${named(m)} where it stopped.`
            : `Continue ${named(m)} in its own voice, by one to three paragraphs.`,
        scope: scopeOf(m),
        criteria:
          m.kind === "run"
            ? ["what was asked is done", "nothing is done twice"]
            : ["only the new text is answered, as Markdown", "it follows from what is there"],
        ...("propose" in m ? { proposal: m.propose?.("behind") } : {}),
      };
    },
  },
  {
    id: "compare",
    title: "compare",
    order: (m) =>
      m.kind === "file"
        ? {
            instruction: `Compare ${named(m)} with its last checkpoint, and say what the differences mean.`,
            scope: scopeOf(m),
            criteria: ["every difference is named", "no file is changed"],
          }
        : undefined,
  },
  { id: "undo", title: "undo", shell: (m) => m.kind === "run" || m.kind === "file" },
];

/** What is offered for a matter. */
export function offersFor(matter: Matter): Offer[] {
  return offers.filter((o) => (o.shell ? o.shell(matter) : o.order?.(matter) !== undefined));
}

/** An order as a prompt. */
export function promptOf(order: Order): string {
  const criteria = order.criteria.map((c) => `- ${c}`).join("\n");
  return `${order.instruction}\n\nScope: ${order.scope}\n\nAcceptance criteria:\n${criteria}`;
}

/** Takes an offer: an ordinary prompt of this desktop, or a page of the shell. Says whether something was asked. */
export async function take(offer: Offer, matter: Matter, session: Pick<Session, "prompt">): Promise<boolean> {
  const order = offer.order?.(matter);
  if (order) {
    await session.prompt(promptOf(order), crypto.randomUUID(), order.proposal ? { proposal: order.proposal } : {});
    return true;
  }
  tellShell(
    matter.kind === "run" ? { kind: "open", page: "undo", run: matter.id } : { kind: "open", page: "timeline" },
  );
  return false;
}
