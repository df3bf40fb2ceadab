import type { Editor } from "@tiptap/react";
import { useEffect, useRef, useState } from "react";
import type { ID, TextAnchor } from "#base/domain/contracts.ts";
import { Button } from "#base/kit/Button.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import type { OverlayKind } from "../../domain/writing";
import type { Say } from "../../i18n/words";
import { Loading, Trouble } from "../../kit/States";
import { useSession } from "../../session/session";
import { past } from "../../transport/address";
import type { Overlay } from "../../transport/documents";
import type { words } from "./i18n";
import { anchorIn } from "./matter";
import { isWhole, type useOverlays } from "./useOverlays";

interface Props {
  id: ID;
  /** Grows each time a comment is asked for. */
  asked: number;
  editor: Editor | undefined;
  over: ReturnType<typeof useOverlays>;
  version: number;
  /** The proposal that is held against the text. */
  compared: ID | undefined;
  t: Say<keyof (typeof words)["en"]>;
  onCompare(proposal: ID | undefined): void;
}

/** What lies over a document: comments and proposals, and the place to add one. */
export function Overlays({ id, asked, editor, over, version, compared, t, onCompare }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const { text, anchor, setText, aim } = useComment(id, editor);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time it is asked for
  useEffect(() => {
    if (asked === 0) return;
    aim();
    field.current?.focus();
  }, [asked]);
  const [sending, setSending] = useState(false);
  const add = async (kind: OverlayKind) => {
    if (!text.trim() || sending) return;
    setSending(true);
    const done = await over.add({ version, kind, anchor, text: text.trim() });
    setSending(false);
    // Words that did not arrive stay where they were typed.
    if (!done) return;
    setText("");
    aim();
  };
  return (
    <aside className="writer-side scroll" aria-label={t("comments")}>
      <div className="writer-new">
        <p>{anchor.exact ? t("commentOn", { text: anchor.exact.slice(0, 80) }) : t("commentAll")}</p>
        <textarea
          ref={field}
          className="field"
          aria-label={t("say")}
          placeholder={t("say")}
          rows={3}
          value={text}
          readOnly={sending}
          onChange={(e) => setText(e.target.value)}
        />
        <div className="writer-buttons">
          <Button onClick={() => unawaited(add("comment"))} disabled={!text.trim() || sending}>
            {t("comment")}
          </Button>
          <Button onClick={() => unawaited(add("proposal"))} disabled={!text.trim() || !anchor.exact || sending}>
            {t("propose")}
          </Button>
        </div>
      </div>
      {over.error && !over.known ? (
        <Trouble error={over.error} onAgain={over.again} />
      ) : !over.known ? (
        <Loading />
      ) : (
        over.open.length === 0 && <p className="writer-none">{t("noComments")}</p>
      )}
      <ul>
        {over.open.map((o) => (
          <Over key={o.id} overlay={o} over={over} compared={compared === o.id} t={t} onCompare={onCompare} />
        ))}
      </ul>
    </aside>
  );
}

/**
 * A comment that is being written, and the text it is about: what is selected,
 * until something is typed, and whenever a comment is asked for.
 */
function useComment(id: ID, editor: Editor | undefined) {
  const { drafts } = useSession();
  const [text, setOwn] = useState("");
  const [anchor, setAnchor] = useState<TextAnchor>(() => (editor ? anchorIn(editor) : {}));
  const aim = () => setAnchor(editor ? anchorIn(editor) : {});
  const blank = text.trim() === "";
  useEffect(() => {
    if (!editor || !blank) return;
    const follow = () => setAnchor(anchorIn(editor));
    editor.on("selectionUpdate", follow);
    return () => {
      editor.off("selectionUpdate", follow);
    };
  }, [editor, blank]);
  useEffect(() => {
    if (past) return;
    const watch = drafts.watch("writer", subjectOf(id));
    watch.read.then(
      (was) => was && setOwn((now) => now || was.text),
      () => undefined,
    );
    return watch.unwatch;
  }, [drafts, id]);
  const setText = (typed: string) => {
    setOwn(typed);
    if (typed) drafts.keep("writer", subjectOf(id), { text: typed, base: "" });
    else drafts.drop("writer", subjectOf(id));
  };
  return { text, anchor, setText, aim };
}

const subjectOf = (document: ID) => `comment:${document}`;

type OverProps = Pick<Props, "over" | "t" | "onCompare"> & { overlay: Overlay; compared: boolean };

/** One comment or proposal. */
function Over({ overlay: o, over, compared, t, onCompare }: OverProps) {
  const fits = over.fits(o);
  const whole = o.kind === "proposal" && isWhole(o);
  return (
    <li className={`writer-overlay writer-is-${o.kind}`}>
      {o.by === "director" && <p className="writer-none">{t("proposedBy", { who: t(o.by) })}</p>}
      {o.anchor.exact && <blockquote>{o.anchor.exact.slice(0, 200)}</blockquote>}
      {!o.anchor.exact && o.anchor.prefix && <p className="writer-none">{t("behind", { text: o.anchor.prefix })}</p>}
      <p className="writer-said">{whole ? t("wholeText", { version: o.version }) : o.text}</p>
      {!fits && <p className="writer-none">{t(whole ? "changedSince" : "gone")}</p>}
      <div className="writer-buttons">
        {o.kind === "proposal" ? (
          <>
            {whole && (
              <Button onClick={() => onCompare(compared ? undefined : o.id)}>
                {t(compared ? "endCompare" : "compare")}
              </Button>
            )}
            <Button look="primary" disabled={!fits} onClick={() => [onCompare(undefined), over.accept(o)]}>
              {t("accept")}
            </Button>
            <Button onClick={() => [onCompare(undefined), over.settle(o, "rejected")]}>{t("reject")}</Button>
          </>
        ) : (
          <Button onClick={() => over.settle(o, "resolved")}>{t("resolve")}</Button>
        )}
      </div>
    </li>
  );
}
