import { Extension } from "@tiptap/core";
import type { Node } from "@tiptap/pm/model";
import { Plugin, PluginKey } from "@tiptap/pm/state";
import { Decoration, DecorationSet } from "@tiptap/pm/view";
import { findAnchor } from "../../domain/anchor";
import type { Overlay } from "../../transport/documents";
import type { Place } from "./putting";

const key = new PluginKey<DecorationSet>("overlays");

/** The text of a document, and for each of its characters where it stands. */
export function textOf(doc: Node): { text: string; at: number[] } {
  let text = "";
  const at: number[] = [];
  doc.descendants((node, pos) => {
    if (node.isText && node.text) {
      for (let i = 0; i < node.text.length; i++) at.push(pos + i);
      text += node.text;
    } else if (node.isBlock && text && !text.endsWith("\n")) {
      at.push(pos);
      text += "\n";
    }
  });
  return { text, at };
}

/** Where an overlay lies in a document. */
export function placeOf(doc: Node, overlay: Pick<Overlay, "anchor">): Place | undefined {
  const { text, at } = textOf(doc);
  const found = findAnchor(text, overlay.anchor);
  const last = found && at[found.to - 1];
  if (!found || last === undefined) return undefined;
  const from = found.from === found.to ? last + 1 : at[found.from];
  return from === undefined ? undefined : { from, to: last + 1 };
}

function mark({ from, to }: Place, name: string): Decoration {
  if (from < to) return Decoration.inline(from, to, { class: name });
  const here = document.createElement("span");
  here.className = `${name} writer-here`;
  return Decoration.widget(from, here, { side: 1 });
}

function marked(doc: Node, overlays: readonly Overlay[]): DecorationSet {
  return DecorationSet.create(
    doc,
    overlays.flatMap((o) => {
      const place = placeOf(doc, o);
      return place ? [mark(place, `writer-mark writer-${o.kind}`)] : [];
    }),
  );
}

/** Shows where overlays lie, without touching the text. */
export const OverlayMarks = Extension.create({
  name: "overlayMarks",
  addProseMirrorPlugins: () => [
    new Plugin<DecorationSet>({
      key,
      state: {
        init: () => DecorationSet.empty,
        apply: (tr, old) => {
          const overlays = tr.getMeta(key) as readonly Overlay[] | undefined;
          return overlays ? marked(tr.doc, overlays) : old.map(tr.mapping, tr.doc);
        },
      },
      props: { decorations: (state) => key.getState(state) },
    }),
  ],
});

export { key as overlayMarks };
