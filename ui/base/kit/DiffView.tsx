import { useMemo } from "react";
import { tell } from "../domain/basewords";
import { type DiffFile, type DiffLine, filesAt, readDiff } from "../domain/diff";
import "./diff.css";

const marks = { add: "+", remove: "−", context: " ", hunk: " ", note: " " } as const;

/** A unified diff, one block for each file or only that of `path`; `folded` shows no lines until asked. */
export function DiffView({ text, folded = false, path }: { text: string; folded?: boolean; path?: string }) {
  const files = useMemo(() => {
    const all = readDiff(text);
    return path === undefined ? all : filesAt(all, path);
  }, [text, path]);
  if (files.length === 0) return <pre className="diff-raw">{text}</pre>;
  return (
    <div className="diff">
      {files.map((file) => (
        <FileBlock key={file.path} file={file} folded={folded} />
      ))}
    </div>
  );
}

function FileBlock({ file, folded }: { file: DiffFile; folded: boolean }) {
  return (
    <details className="diff-file" open={!folded}>
      <summary>
        <code>{file.path}</code>
        <span className="diff-stat">
          <span className="diff-added">+{file.added}</span> <span className="diff-removed">−{file.removed}</span>
        </span>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section className="diff-lines" aria-label={tell("changesIn", { path: file.path })} tabIndex={0}>
        {file.lines.map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a diff never change places
          <Line key={at} line={line} />
        ))}
      </section>
    </details>
  );
}

function Line({ line }: { line: DiffLine }) {
  return (
    <div className={`diff-line diff-${line.kind}`}>
      <span className="diff-number">{line.before}</span>
      <span className="diff-number">{line.after}</span>
      <span className="diff-mark">{marks[line.kind]}</span>
      <code>{line.text || " "}</code>
    </div>
  );
}
