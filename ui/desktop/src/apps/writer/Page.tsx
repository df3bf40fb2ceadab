import type { Editor as Tiptap } from "@tiptap/react";
import { ChevronLeft, ChevronRight, Ellipsis, MessagesSquare } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { OfferButton } from "../../actions/OfferButton";
import type { Matter } from "../../actions/offers";
import { useWindow } from "../../app/useWindow";
import { isChord } from "../../domain/chord";
import type { ID } from "../../domain/contracts";
import { ago } from "../../domain/time";
import { isUnsaved, type Writing } from "../../domain/writing";
import { useWords } from "../../i18n/words";
import { Button } from "../../kit/Button";
import { Markdown } from "../../kit/Markdown";
import { MenuButton } from "../../kit/Menu";
import { notifyDone, notifyProblem } from "../../kit/notify";
import { Loading, Trouble } from "../../kit/States";
import { useStore } from "../../state/store";
import { type Doc, documents } from "../../transport/documents";
import { Banner } from "./Banner";
import { Editor } from "./Editor";
import { exportDOCX, exportHTML, exportMarkdown, print } from "./export";
import { words } from "./i18n";
import { type How, howOf, isLarge } from "./markdown";
import { Overlays } from "./Overlays";
import { Plain, Sides } from "./Plain";
import { Tools } from "./Tools";
import { useOverlays } from "./useOverlays";
import { useVersions } from "./useVersions";
import { useWriting } from "./useWriting";

/** One document. */
export function Page({ id }: { id: ID }) {
  const { doc, writing, error, ...hand } = useWriting(id);
  if (error && !doc) return <Trouble error={error} onAgain={hand.retry} />;
  if (!doc || !writing) return <Loading />;
  return <Open id={id} doc={doc} writing={writing} {...hand} />;
}

type Hand = Omit<ReturnType<typeof useWriting>, "doc" | "writing" | "error" | "retry">;

function Open({ id, doc, writing, save, type, choose }: { id: ID; doc: Doc; writing: Writing } & Hand) {
  const { title, show, close } = useWindow();
  const t = useWords(words);
  const [editor, setEditor] = useState<Tiptap>();
  const [side, setSide] = useState(false);
  const [comparing, setComparing] = useState(false);
  const versions = useVersions(id, doc.version);
  const over = useOverlays(id, editor, save);
  const how = useHow(writing);
  useEffect(() => {
    if (title !== doc.title) show(`document:${id}`, doc.title);
  }, [title, doc.title, show, id]);
  const { looking, old } = versions;
  const other = writing.theirs ?? (old && { version: old.version, content: old.content ?? "" });
  const press = (e: React.KeyboardEvent) => {
    if (isChord(e.nativeEvent, "Ctrl+S")) void save();
    else if (isChord(e.nativeEvent, "Ctrl+Alt+C")) setSide(true);
    else if (e.altKey && e.key === "PageUp" && versions.before !== undefined) versions.go(versions.before);
    else if (e.altKey && e.key === "PageDown" && versions.after !== undefined) versions.go(versions.after);
    else return;
    e.preventDefault();
  };
  const body = () => {
    if (comparing && other)
      return (
        <Sides left={other.content} right={writing.text} names={[t("theirs", { version: other.version }), t("mine")]} />
      );
    if (looking !== undefined) return old ? <Old text={old.content ?? ""} label={t("text")} /> : <Loading />;
    if (how === "large") return <Plain text={writing.text} label={t("text")} />;
    if (how !== "rich") return <Plain text={writing.text} label={t("text")} onText={type} />;
    return <Editor text={writing.text} label={t("text")} overlays={over.open} onText={type} onEditor={setEditor} />;
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
          {t("lookingBack", { version: looking })}
        </Banner>
      )}
      {looking === undefined && how !== "rich" && (
        <Banner look="plain">{t(how, { size: Math.round(writing.text.length / 1e5) / 10 })}</Banner>
      )}
      {looking === undefined && !comparing && editor && how === "rich" && (
        <Tools editor={editor} t={t} onComment={() => setSide(true)} />
      )}
      <div className="writer-body">
        {body()}
        {side && editor && looking === undefined && (
          <Overlays
            editor={editor}
            overlays={over.open}
            version={writing.base.version}
            t={t}
            onAdd={over.add}
            onSettle={over.settle}
            onAccept={over.accept}
          />
        )}
      </div>
    </div>
  );
}

/** How the text is written: decided for each that comes from outside, and kept while one is written here. */
function useHow({ base, touched }: Writing): How {
  const known = useRef<{ content: string; how: How }>(undefined);
  if (known.current?.content !== base.content) {
    const how = touched && known.current ? known.current.how : howOf(base.content);
    known.current = { content: base.content, how };
  }
  return known.current.how;
}

/** A version of before. */
function Old({ text, label }: { text: string; label: string }) {
  if (isLarge(text)) return <Plain text={text} label={label} />;
  return (
    <div className="writer-page writer-old scroll">
      <Markdown text={text} />
    </div>
  );
}

interface HeadProps {
  id: ID;
  doc: Doc;
  writing: Writing;
  versions: ReturnType<typeof useVersions>;
  editor: Tiptap | undefined;
  side: boolean;
  onSide(): void;
  onRemoved(): void;
}

/** Title, versions, and what can be done with the whole document. */
function Head({ id, doc, writing, versions, editor, side, onSide, onRemoved }: HeadProps) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  const [title, setTitle] = useState(doc.title);
  useEffect(() => setTitle(doc.title), [doc.title]);
  const rename = () => {
    if (title.trim() && title !== doc.title) documents.rename(id, title.trim()).catch(notifyProblem);
    else setTitle(doc.title);
  };
  const remove = () =>
    documents.remove(id).then(() => {
      notifyDone(t("removed"));
      onRemoved();
    }, notifyProblem);
  const state = writing.saving ? "saving" : writing.away ? "away" : isUnsaved(writing) ? "unsaved" : "saved";
  const selected =
    editor && !editor.state.selection.empty
      ? editor.state.doc.textBetween(editor.state.selection.from, editor.state.selection.to, "\n")
      : "";
  const matter: Matter = selected
    ? { kind: "selection", of: `the document “${doc.title}”`, text: selected }
    : { kind: "document", id, title: doc.title, text: writing.text };
  const given = { title: doc.title, markdown: writing.text };
  // What builds another format would hold up the page over megabytes.
  const large = isLarge(writing.text);
  const { of, looking } = versions;
  return (
    <div className="app-tools writer-head">
      <input
        className="writer-title"
        aria-label={t("title")}
        value={title}
        onChange={(e) => setTitle(e.target.value)}
        onBlur={rename}
        onKeyDown={(e) => e.key === "Enter" && e.currentTarget.blur()}
      />
      <span className="writer-state" role="status" data-saved={state === "saved"}>
        {t(state)}
      </span>
      <span className="spread" />
      <span className="writer-versions">
        <button
          type="button"
          className="tool"
          data-version="before"
          aria-label={t("before")}
          title={t("before")}
          disabled={versions.before === undefined}
          onClick={() => versions.go(versions.before)}
        >
          <ChevronLeft size={16} aria-hidden />
        </button>
        <span
          className="writer-version"
          title={of && t("versionBy", { who: t(of.by ?? "system"), when: ago(of.at, Date.now(), language) })}
        >
          {t("version", { version: looking ?? doc.version, newest: doc.version })}
        </span>
        <button
          type="button"
          className="tool"
          aria-label={t("after")}
          title={t("after")}
          disabled={versions.after === undefined}
          onClick={() => versions.go(versions.after)}
        >
          <ChevronRight size={16} aria-hidden />
        </button>
      </span>
      <OfferButton matter={matter} />
      <button
        type="button"
        className="tool"
        aria-label={t("comments")}
        title={t("comments")}
        aria-pressed={side}
        onClick={onSide}
      >
        <MessagesSquare size={16} aria-hidden />
      </button>
      <MenuButton
        entries={[
          { id: "md", label: t("exportMarkdown"), run: () => exportMarkdown(given) },
          {
            id: "html",
            label: t("exportHTML"),
            disabled: large,
            run: () => void exportHTML(given).catch(notifyProblem),
          },
          {
            id: "docx",
            label: t("exportDOCX"),
            disabled: large,
            run: () => void exportDOCX(given).catch(notifyProblem),
          },
          { id: "print", label: t("print"), disabled: large, run: () => void print(given).catch(notifyProblem) },
          { id: "remove", label: t("remove"), danger: true, apart: true, run: () => void remove() },
        ]}
      >
        <button type="button" className="tool" data-menu aria-label={t("more")} title={t("more")}>
          <Ellipsis size={16} aria-hidden />
        </button>
      </MenuButton>
    </div>
  );
}
