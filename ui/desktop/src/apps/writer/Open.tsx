import type { Editor as Tiptap } from "@tiptap/react";
import { useEffect, useRef, useState } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { Button } from "#base/kit/Button.tsx";
import { Markdown } from "#base/kit/Markdown.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { isChord } from "../../domain/chord";
import { isUnsaved, type Writing } from "../../domain/writing";
import { useWords } from "../../i18n/words";
import { late } from "../../kit/late";
import { nextTask } from "../../kit/nextTask";
import { Loading, Trouble } from "../../kit/States";
import { useUnsaved } from "../../session/useUnsaved";
import { useWindow } from "../../session/useWindow";
import type { Doc } from "../../transport/documents";
import { Banner } from "./Banner";
import { Editor, type MadeAhead } from "./Editor";
import { Head } from "./Head";
import { words } from "./i18n";
import { type How, howOf, isLarge, type ReadAhead, type Reading, readAhead } from "./markdown";
import { Overlays } from "./Overlays";
import { draw, newEditor } from "./richtext";
import { Tools } from "./Tools";
import { Undone } from "./Undone";
import { useOverlays } from "./useOverlays";
import { useVersions } from "./useVersions";
import type { useWriting } from "./useWriting";

const Plain = late(
  () => import("./Plain"),
  () => <Loading />,
);
const Sides = late(
  () => import("./Sides"),
  () => <Loading />,
);

type Hand = Omit<ReturnType<typeof useWriting>, "doc" | "writing" | "error" | "retry">;

type Props = { id: ID; doc: Doc; writing: Writing } & Hand;

/** A document that is there, once its text was read. */
export default function Open(props: Props) {
  const ahead = useAhead(props.writing);
  return ahead ? <Sheet {...props} ahead={ahead} /> : <Loading />;
}

interface Ahead extends Omit<ReadAhead, "reading"> {
  made?: MadeAhead | undefined;
}

/** Makes an editor, each step in a task of its own. */
async function makeAhead(reading: Reading, label: string): Promise<MadeAhead> {
  await nextTask();
  const editor = newEditor(reading, label);
  await nextTask();
  draw(editor);
  await nextTask();
  return { reading, editor };
}

/** The text that a window opens with, read and its editor made before anything is drawn of it. */
function useAhead(writing: Writing): Ahead | undefined {
  const t = useWords(words);
  const label = useRef(t("text"));
  const [ahead, setAhead] = useState<Ahead>();
  const first = useRef(writing);
  useEffect(() => {
    let here = true;
    const { base, text } = first.current;
    const prepare = async () => {
      const { reading, ...rest } = await readAhead(base.content, text);
      const made = reading && (await makeAhead(reading, label.current));
      if (here) setAhead({ ...rest, made });
      else made?.editor?.destroy();
    };
    unawaited(prepare());
    return () => {
      here = false;
    };
  }, []);
  return ahead;
}

function Sheet({ id, doc, writing, ahead, save, type, choose, discard }: Props & { ahead: Ahead }) {
  const { title, show, close } = useWindow();
  const t = useWords(words);
  const [editor, setEditor] = useState<Tiptap>();
  // What stands around the text is drawn before it, in a task of its own.
  const [isAround, setAround] = useState(false);
  useEffect(() => unawaited(nextTask().then(() => setAround(true))), []);
  const [side, setSide] = useState(false);
  // How often a comment was asked for: each time its field gets the keyboard, and the selection is its text.
  const [asked, setAsked] = useState(0);
  const comment = () => {
    setSide(true);
    setAsked((n) => n + 1);
  };
  const [comparing, setComparing] = useState(false);
  // Else it saves itself, also when the window is closed.
  useUnsaved(isUnsaved(writing) && (writing.theirs !== undefined || writing.away), {
    name: doc.title,
    save: async () => {
      choose("mine");
      return save();
    },
    discard,
  });
  const versions = useVersions(id, doc.version);
  const over = useOverlays(id, { editor, writing, save, type });
  const [compared, setCompared] = useState<ID>();
  const proposal = over.open.find((o) => o.id === compared);
  const how = useHow(writing, ahead);
  // What an agent proposes is shown when it comes.
  const proposed = over.open.findLast((o) => o.kind === "proposal" && o.by === "director")?.id;
  useEffect(() => {
    if (proposed) setSide(true);
  }, [proposed]);
  useEffect(() => {
    if (title !== doc.title) show(`document:${id}`, doc.title);
  }, [title, doc.title, show, id]);
  const { looking, old } = versions;
  const other = writing.theirs ?? (old && { version: old.version, content: old.content ?? "" });
  const press = (e: React.KeyboardEvent) => {
    if (isChord(e.nativeEvent, "Ctrl+S")) unawaited(save());
    else if (isChord(e.nativeEvent, "Ctrl+Alt+C")) comment();
    else if (e.altKey && e.key === "PageUp" && versions.before !== undefined) versions.go(versions.before);
    else if (e.altKey && e.key === "PageDown" && versions.after !== undefined) versions.go(versions.after);
    else return;
    e.preventDefault();
  };
  const body = () => {
    if (proposal) return <Sides left={writing.text} right={proposal.text} names={[t("mine"), t("proposal")]} />;
    if (comparing && other)
      return (
        <Sides left={other.content} right={writing.text} names={[t("theirs", { version: other.version }), t("mine")]} />
      );
    if (looking !== undefined && versions.error) return <Trouble error={versions.error} onAgain={versions.again} />;
    if (looking !== undefined) return old ? <Old text={old.content ?? ""} label={t("text")} /> : <Loading />;
    if (how === "large") return <Plain text={writing.text} label={t("text")} />;
    if (how !== "rich") return <Plain text={writing.text} label={t("text")} onText={type} />;
    if (!isAround) return <Loading />;
    return (
      <Editor
        text={writing.text}
        ahead={ahead.made}
        label={t("text")}
        overlays={over.open}
        onText={type}
        onEditor={setEditor}
      />
    );
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the text inside
    <div className="app writer" onKeyDown={press}>
      <Head
        id={id}
        doc={doc}
        writing={writing}
        versions={versions}
        editor={editor}
        side={side}
        onSide={() => setSide(!side)}
        onRemoved={close}
      />
      {writing.theirs && (
        <Banner
          look={writing.stale ? "warn" : "offer"}
          buttons={
            <>
              <Button onClick={() => setComparing(!comparing)}>{t(comparing ? "endCompare" : "compare")}</Button>
              <Button onClick={() => [setComparing(false), choose("theirs")]}>{t("takeTheirs")}</Button>
              <Button look="primary" onClick={() => [setComparing(false), choose("mine")]}>
                {t("keepMine")}
              </Button>
            </>
          }
        >
          {t(writing.stale ? "stale" : "offered", {
            who: t(writing.theirs.by ?? "system"),
            version: writing.theirs.version,
            base: writing.base.version,
          })}
        </Banner>
      )}
      {looking !== undefined && (
        <Banner
          look="plain"
          buttons={
            <>
              <Button onClick={() => setComparing(!comparing)} disabled={!old}>
                {t(comparing ? "endCompare" : "compare")}
              </Button>
              <Button
                disabled={!old || writing.theirs !== undefined}
                onClick={() => [type(old?.content ?? ""), setComparing(false), versions.go(undefined)]}
              >
                {t("makeNewest")}
              </Button>
              <Button look="primary" onClick={() => [setComparing(false), versions.go(undefined)]}>
                {t("toNewest")}
              </Button>
            </>
          }
        >
          {looking === 0 ? t("lookingAtBegun") : t("lookingBack", { version: looking })}
        </Banner>
      )}
      <Undone run={doc.run} />
      {looking === undefined && how !== "rich" && (
        <Banner look="plain">{t(how, { size: Math.round(writing.text.length / 1e5) / 10 })}</Banner>
      )}
      {looking === undefined && !comparing && !proposal && editor && how === "rich" && (
        <Tools editor={editor} t={t} onComment={comment} />
      )}
      <div className="writer-body">
        {body()}
        {side && looking === undefined && how !== "large" && (
          <Overlays
            id={id}
            asked={asked}
            editor={editor}
            over={over}
            version={writing.base.version}
            compared={proposal?.id}
            t={t}
            onCompare={setCompared}
          />
        )}
      </div>
    </div>
  );
}

/** How the text is written: decided for each that comes from outside, and kept while one is written here. */
function useHow({ base, touched }: Writing, ahead: Ahead): How {
  const known = useRef({ content: ahead.version, how: ahead.how });
  if (known.current.content !== base.content) {
    known.current = { content: base.content, how: touched ? known.current.how : howOf(base.content) };
  }
  return known.current.how;
}

/** A version of before. */
function Old({ text, label }: { text: string; label: string }) {
  if (isLarge(text)) return <Plain text={text} label={label} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="writer-page writer-old scroll" tabIndex={0} data-autofocus aria-label={label}>
      <Markdown text={text} under={2} />
    </section>
  );
}
