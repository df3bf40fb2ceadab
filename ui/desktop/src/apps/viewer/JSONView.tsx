import { useMemo, useState } from "react";
import { useWords } from "../../i18n/words";
import { Empty } from "../../kit/States";
import { words } from "./i18n";

/** A value of JSON. */
type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

/** Entries of one level drawn at first, and with each step. */
const SHOWN = 200;

/** JSON as a tree that opens and closes. */
export function JSONView({ text }: { text: string }) {
  const t = useWords(words);
  const read = useMemo(() => {
    try {
      return { value: JSON.parse(text) as Value };
    } catch (error) {
      return { trouble: error instanceof Error ? error.message : String(error) };
    }
  }, [text]);
  if (read.trouble !== undefined) return <Empty title={t("badJSON", { why: read.trouble })} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <div className="viewer-json scroll" tabIndex={0} data-autofocus>
      <Node name="" value={read.value as Value} depth={0} />
    </div>
  );
}

function Node({ name, value, depth }: { name: string; value: Value; depth: number }) {
  if (value === null || typeof value !== "object") {
    return (
      <div className="viewer-leaf">
        {name && <b>{name}: </b>}
        <code data-type={value === null ? "null" : typeof value}>{JSON.stringify(value)}</code>
      </div>
    );
  }
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return (
    <details open={depth < 2}>
      <summary>
        {name && <b>{name}: </b>}
        <code>
          {open}
          {entries.length}
          {close}
        </code>
      </summary>
      <Level entries={entries} depth={depth} />
    </details>
  );
}

function Level({ entries, depth }: { entries: [string, Value][]; depth: number }) {
  const t = useWords(words);
  const [shown, setShown] = useState(SHOWN);
  return (
    <div className="viewer-level">
      {entries.slice(0, shown).map(([key, value]) => (
        <Node key={key} name={key} value={value} depth={depth + 1} />
      ))}
      {entries.length > shown && (
        <button type="button" className="tool" onClick={() => setShown(shown + SHOWN)}>
          {t("more", { n: entries.length - shown })}
        </button>
      )}
    </div>
  );
}
