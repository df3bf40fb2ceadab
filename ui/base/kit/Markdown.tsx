import { lazy, Suspense } from "react";
import "./markdown.css";

// Its parser is half of all the script, and the first screen needs none of it.
const Rendered = lazy(() => import("./MarkdownRendered"));

/** Markdown as a document under a heading of the page. What agents wrote is never taken as HTML. */
export function Markdown({ text, under = 1, onPath }: Parameters<typeof Rendered>[0]) {
  return (
    <div className="markdown">
      <Suspense fallback={<p className="markdown-plain">{text}</p>}>
        <Rendered text={text} under={under} {...(onPath ? { onPath } : {})} />
      </Suspense>
    </div>
  );
}
