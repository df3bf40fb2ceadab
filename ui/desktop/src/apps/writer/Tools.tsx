import type { Editor } from "@tiptap/react";
import {
  Bold,
  Code,
  Heading2,
  Italic,
  List,
  ListOrdered,
  type LucideIcon,
  MessageSquarePlus,
  Quote,
} from "lucide-react";
import type { Say } from "../../i18n/words";
import type { words } from "./i18n";

type T = Say<keyof (typeof words)["en"]>;

const tools: { name: keyof (typeof words)["en"]; icon: LucideIcon; run(e: Editor): void }[] = [
  { name: "bold", icon: Bold, run: (e) => e.chain().focus().toggleBold().run() },
  { name: "italic", icon: Italic, run: (e) => e.chain().focus().toggleItalic().run() },
  { name: "code", icon: Code, run: (e) => e.chain().focus().toggleCode().run() },
  { name: "heading", icon: Heading2, run: (e) => e.chain().focus().toggleHeading({ level: 2 }).run() },
  { name: "bullets", icon: List, run: (e) => e.chain().focus().toggleBulletList().run() },
  { name: "numbers", icon: ListOrdered, run: (e) => e.chain().focus().toggleOrderedList().run() },
  { name: "quote", icon: Quote, run: (e) => e.chain().focus().toggleBlockquote().run() },
];

/** The buttons over the text. */
export function Tools({ editor, t, onComment }: { editor: Editor; t: T; onComment(): void }) {
  return (
    <div className="writer-tools" role="toolbar" aria-label={t("formatting")}>
      {tools.map(({ name, icon: Icon, run }) => (
        <button
          key={name}
          type="button"
          className="tool"
          aria-label={t(name)}
          title={t(name)}
          onClick={() => run(editor)}
        >
          <Icon size={16} aria-hidden />
        </button>
      ))}
      <span className="spread" />
      <button type="button" className="tool" aria-label={t("comment")} title={t("comment")} onClick={onComment}>
        <MessageSquarePlus size={16} aria-hidden />
      </button>
    </div>
  );
}
