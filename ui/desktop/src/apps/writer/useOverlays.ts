import { useQuery } from "@tanstack/react-query";
import type { Editor } from "@tiptap/react";
import { useMemo } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { findAnchor } from "../../domain/anchor";
import { isUnsaved, type OverlayOutcome, type Writing } from "../../domain/writing";
import { documents, type NewOverlay, type Overlay } from "../../transport/documents";
import { read } from "./markdown";
import { placeOf } from "./marks";
import { put } from "./putting";

interface Hand {
  /** The rich text; undefined while the text is written as Markdown. */
  editor: Editor | undefined;
  writing: Writing;
  save(accepted?: ID[]): Promise<unknown>;
  type(text: string): void;
}

/** Whether an overlay is about the whole document. */
export const isWhole = ({ anchor }: Pick<Overlay, "anchor">) => !anchor.exact && !anchor.prefix;

function refuse(error: unknown): false {
  notifyProblem(error);
  return false;
}

/** What lies over a document and is not settled, and what can be done about it. */
export function useOverlays(id: ID, { editor, writing, save, type }: Hand) {
  const { data, error, refetch } = useQuery({
    queryKey: ["documents", id, "overlays"],
    queryFn: () => documents.overlays(id),
  });
  const open = useMemo(() => (data ?? []).filter((o) => !o.outcome), [data]);
  const after = (done: Promise<unknown>) => unawaited(done.then(() => refetch()));
  const placeIn = (o: Overlay) => (editor ? placeOf(editor.state.doc, o) : findAnchor(writing.text, o.anchor));
  return {
    open,
    /** They were read. */
    known: data !== undefined,
    error,
    again: () => unawaited(refetch()),
    /** Says whether it lies over the document now; a refusal was told. */
    add: (overlay: NewOverlay): Promise<boolean> =>
      documents.overlay(id, overlay).then(() => {
        unawaited(refetch());
        return true;
      }, refuse),
    settle: (overlay: Overlay, outcome: OverlayOutcome) => after(documents.settle(id, overlay.id, outcome)),
    /** Whether what it is about is still there. A whole text has only the place of the version it was made of. */
    fits: (o: Overlay) =>
      isWhole(o)
        ? o.kind === "comment" || (o.version === writing.base.version && !isUnsaved(writing) && !writing.theirs)
        : placeIn(o) !== undefined,
    /** Puts what is proposed in its place, and saves both in one. */
    accept: (o: Overlay) => {
      if (isWhole(o)) type(o.text);
      else if (editor) {
        const place = placeOf(editor.state.doc, o);
        if (!place) return;
        editor.view.dispatch(put(editor.state.tr, place, read(o.text)));
      } else {
        const place = findAnchor(writing.text, o.anchor);
        if (!place) return;
        const gap = place.from === place.to ? "\n\n" : "";
        type(writing.text.slice(0, place.from) + gap + o.text + writing.text.slice(place.to));
      }
      after(save([o.id]));
    },
  };
}
