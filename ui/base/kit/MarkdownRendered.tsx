import type { Nodes } from "hast";
import { Children, createContext, type ReactNode, useContext } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import { visible } from "#visible";
import { tell } from "../domain/basewords";
import { gfm } from "./gfm";

/** Keeps an option such as --top from being broken after its hyphens. */
function unbroken(children: ReactNode): ReactNode {
  return Children.map(children, (c) => (typeof c === "string" ? c.replace(/(?<=\s|^)--(?=\w)/g, "-\u2060-\u2060") : c));
}

/** The level of the heading that a document stands under. */
const Under = createContext(1);

/** A heading of a document, which is a part of the page: the page alone has a heading of the first level. */
function heading(depth: 1 | 2 | 3 | 4 | 5 | 6) {
  const Tag = `h${depth}` as const;
  return function Heading({ children }: { children?: ReactNode }) {
    return <Tag aria-level={Math.min(6, depth + useContext(Under))}>{unbroken(children)}</Tag>;
  };
}

/** What opens a file whose path is pressed; without it paths are text. */
const OnPath = createContext<((path: string) => void) | undefined>(undefined);

/** A path below the workspace's folder, as agents write it. */
const PATH = /^(artifacts|choiros|workspace)\/\S+$/;

/** Words in code; a path of a file opens it. */
function Code({ children, className }: { children?: ReactNode; className?: string | undefined }) {
  const onPath = useContext(OnPath);
  const code = <code className={className}>{children}</code>;
  if (!onPath || typeof children !== "string" || !PATH.test(children)) return code;
  return (
    <button type="button" className="markdown-path" onClick={() => onPath(children)}>
      {code}
    </button>
  );
}

const components: Components = {
  h1: heading(1),
  h2: heading(2),
  h3: heading(3),
  h4: heading(4),
  h5: heading(5),
  h6: heading(6),
  a: ({ children, href }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  code: Code,
  // Fetching an image would tell its host that the document is being read.
  img: ({ alt, src }) => <span className="markdown-image">{alt || String(src ?? "image")}</span>,
  input: ({ checked }) => (
    <span
      className={checked ? "markdown-check markdown-checked" : "markdown-check"}
      role="img"
      aria-label={checked ? tell("ticked") : tell("notTicked")}
    />
  ),
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  table: ({ children }) => (
    <div className="markdown-table">
      <table>{children}</table>
    </div>
  ),
};

/** Makes visible what a parsed document says: what was spelled as an entity too. */
function allVisible() {
  const walk = (node: Nodes): void => {
    if ("value" in node) node.value = visible(node.value);
    if (node.type === "element")
      for (const name of ["title", "alt"]) {
        const said = node.properties[name];
        if (typeof said === "string") node.properties[name] = visible(said);
      }
    if ("children" in node) node.children.forEach(walk);
  };
  return walk;
}

/** The renderer itself, loaded when the first document is shown. */
export default function MarkdownRendered(props: { text: string; under?: number; onPath?: (path: string) => void }) {
  return (
    <Under value={props.under ?? 1}>
      <OnPath value={props.onPath}>
        <ReactMarkdown remarkPlugins={[gfm]} rehypePlugins={[allVisible]} components={components} skipHtml>
          {props.text}
        </ReactMarkdown>
      </OnPath>
    </Under>
  );
}
