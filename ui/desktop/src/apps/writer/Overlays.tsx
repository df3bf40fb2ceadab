import type { Editor } from "@tiptap/react";
import { useState } from "react";
import { anchorOf } from "../../domain/anchor";
import type { OverlayKind, OverlayOutcome } from "../../domain/writing";
import type { Say } from "../../i18n/words";
import { Button } from "../../kit/Button";
import type { NewOverlay, Overlay } from "../../transport/documents";
import type { words } from "./i18n";
import { placeOf, textOf } from "./marks";

type T = Say<keyof (typeof words)["en"]>;

/** The selection as an anchor; none for an empty one. */
function anchorIn(editor: Editor): NewOverlay["anchor"] {
  const { from, to } = editor.state.selection;
  const { text, at } = textOf(editor.state.doc);
  const first = at.findIndex((pos) => pos >= from);
  const end = at.findIndex((pos) => pos >= to);
  return from === to || first < 0 ? {} : anchorOf(text, first, end < 0 ? text.length : end);
}

interface Props {
  editor: Editor;
  overlays: readonly Overlay[];
  version: number;
  t: T;
  onAdd(overlay: NewOverlay): void;
  onSettle(overlay: Overlay, outcome: OverlayOutcome): void;
  onAccept(overlay: Overlay): void;
}

/** What lies over a document: comments and proposals, and the place to add one. */
export function Overlays({ editor, overlays, version, t, onAdd, onSettle, onAccept }: Props) {
  const [text, setText] = useState("");
  const [anchor] = useState(() => anchorIn(editor));
  const add = (kind: OverlayKind) => {
    if (!text.trim()) return;
    setText("");
    onAdd({ version, kind, anchor, text: text.trim() });
  };
  return (
    <aside className="writer-side scroll" aria-label={t("comments")}>
      <div className="writer-new">
        <p>{anchor.exact ? t("commentOn", { text: anchor.exact.slice(0, 80) }) : t("commentAll")}</p>
        <textarea
          className="field"
          aria-label={t("say")}
          placeholder={t("say")}
          rows={3}
          value={text}
          onChange={(e) => setText(e.target.value)}
        />
        <div className="writer-buttons">
          <Button onClick={() => add("comment")} disabled={!text.trim()}>
            {t("comment")}
          </Button>
          <Button onClick={() => add("proposal")} disabled={!text.trim() || !anchor.exact}>
            {t("propose")}
          </Button>
        </div>
      </div>
      {overlays.length === 0 && <p className="writer-none">{t("noComments")}</p>}
      <ul>
        {overlays.map((o) => (
          <li key={o.id} className={`writer-overlay writer-is-${o.kind}`}>
            {o.anchor.exact && <blockquote>{o.anchor.exact.slice(0, 200)}</blockquote>}
            <p>{o.text}</p>
            {o.anchor.exact && !placeOf(editor.state.doc, o) && <p className="writer-none">{t("gone")}</p>}
            <div className="writer-buttons">
              {o.kind === "proposal" ? (
                <>
                  <Button look="primary" disabled={!placeOf(editor.state.doc, o)} onClick={() => onAccept(o)}>
                    {t("accept")}
                  </Button>
                  <Button onClick={() => onSettle(o, "rejected")}>{t("reject")}</Button>
                </>
              ) : (
                <Button onClick={() => onSettle(o, "resolved")}>{t("resolve")}</Button>
              )}
            </div>
          </li>
        ))}
      </ul>
    </aside>
  );
}
