import type { Editor } from "@tiptap/react";
import { useState } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { Button } from "#base/kit/Button.tsx";
import type { OverlayKind } from "../../domain/writing";
import type { Say } from "../../i18n/words";
import type { Overlay } from "../../transport/documents";
import type { words } from "./i18n";
import { anchorIn } from "./matter";
import { isWhole, type useOverlays } from "./useOverlays";

interface Props {
  editor: Editor | undefined;
  over: ReturnType<typeof useOverlays>;
  version: number;
  /** The proposal that is held against the text. */
  compared: ID | undefined;
  t: Say<keyof (typeof words)["en"]>;
  onCompare(proposal: ID | undefined): void;
}

/** What lies over a document: comments and proposals, and the place to add one. */
export function Overlays({ editor, over, version, compared, t, onCompare }: Props) {
  const [text, setText] = useState("");
  const [anchor] = useState(() => (editor ? anchorIn(editor) : {}));
  const add = (kind: OverlayKind) => {
    if (!text.trim()) return;
    setText("");
    over.add({ version, kind, anchor, text: text.trim() });
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
      {over.open.length === 0 && <p className="writer-none">{t("noComments")}</p>}
      <ul>
        {over.open.map((o) => (
          <Over key={o.id} overlay={o} over={over} compared={compared === o.id} t={t} onCompare={onCompare} />
        ))}
      </ul>
    </aside>
  );
}

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
