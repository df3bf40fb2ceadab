import { useQuery } from "@tanstack/react-query";
import type { Editor } from "@tiptap/react";
import { useMemo } from "react";
import type { ID } from "../../domain/contracts";
import type { OverlayOutcome } from "../../domain/writing";
import { notifyProblem } from "../../kit/notify";
import { documents, type NewOverlay, type Overlay } from "../../transport/documents";
import { placeOf } from "./marks";

/** What lies over a document and is not settled, and what can be done about it. */
export function useOverlays(id: ID, editor: Editor | undefined, save: (accepted?: ID[]) => Promise<void>) {
  const { data, refetch } = useQuery({
    queryKey: ["documents", id, "overlays"],
    queryFn: () => documents.overlays(id),
  });
  const open = useMemo(() => (data ?? []).filter((o) => !o.outcome), [data]);
  const after = (done: Promise<unknown>) => void done.then(() => refetch(), notifyProblem);
  return {
    open,
    add: (overlay: NewOverlay) => after(documents.overlay(id, overlay)),
    settle: (overlay: Overlay, outcome: OverlayOutcome) => after(documents.settle(id, overlay.id, outcome)),
    /** Puts what is proposed in its place, and saves both in one. */
    accept: (overlay: Overlay) => {
      const place = editor && placeOf(editor.state.doc, overlay);
      if (!place) return;
      editor.chain().insertContentAt(place, overlay.text).run();
      after(save([overlay.id]));
    },
  };
}
