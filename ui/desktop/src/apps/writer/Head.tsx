import type { Editor as Tiptap } from "@tiptap/react";
import { ChevronLeft, ChevronRight, Ellipsis, MessagesSquare } from "lucide-react";
import { useEffect, useState } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { notifyDone, notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { OfferButton } from "../../actions/OfferButton";
import { isUnsaved, type Writing } from "../../domain/writing";
import { useWords } from "../../i18n/words";
import { MenuButton } from "../../kit/Menu";
import { useAge } from "../../kit/useAge";
import { type Doc, documents } from "../../transport/documents";
import { exportDOCX, exportHTML, exportMarkdown, print } from "./export";
import { words } from "./i18n";
import { isLarge } from "./markdown";
import { matterOf } from "./matter";
import type { useVersions } from "./useVersions";
import { versionWords } from "./versions";

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
export function Head({ id, doc, writing, versions, editor, side, onSide, onRemoved }: HeadProps) {
  const t = useWords(words);
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
  const given = { title: doc.title, markdown: writing.text };
  // What builds another format would hold up the page over megabytes.
  const large = isLarge(writing.text);
  const { of, looking } = versions;
  const when = useAge(of?.at);
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
        <span className="writer-version" title={of && t("versionBy", { who: t(of.by ?? "system"), when })}>
          {t(versionWords(looking ?? doc.version, doc.version), {
            version: looking ?? doc.version,
            newest: doc.version,
          })}
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
      <OfferButton matter={() => matterOf(doc, writing, editor)} />
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
            run: () => unawaited(exportHTML(given)),
          },
          {
            id: "docx",
            label: t("exportDOCX"),
            disabled: large,
            run: () => unawaited(exportDOCX(given)),
          },
          { id: "print", label: t("print"), disabled: large, run: () => unawaited(print(given)) },
          { id: "remove", label: t("remove"), danger: true, apart: true, run: () => unawaited(remove()) },
        ]}
      >
        <button type="button" className="tool" data-menu aria-label={t("more")} title={t("more")}>
          <Ellipsis size={16} aria-hidden />
        </button>
      </MenuButton>
    </div>
  );
}
