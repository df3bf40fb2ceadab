import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import { readCSV } from "../../domain/csv";
import { useWords } from "../../i18n/words";
import { words } from "./i18n";

const ROW = 30;

/** Comma-separated values; only the rows that are seen exist. */
export function Table({ text, name }: { text: string; name: string }) {
  const t = useWords(words);
  const rows = useMemo(() => readCSV(text), [text]);
  const [head = [], ...body] = rows;
  const box = useRef<HTMLDivElement>(null);
  const seen = useVirtualizer({
    count: body.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const drawn = seen.getVirtualItems();
  const above = drawn[0]?.start ?? 0;
  const below = seen.getTotalSize() - (drawn.at(-1)?.end ?? 0);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <div className="viewer-table scroll" ref={box} tabIndex={0} data-autofocus>
        <table aria-label={t("table", { name })} aria-rowcount={rows.length}>
          <thead>
            <tr>
              {head.map((cell, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
                <th key={i} scope="col">
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr style={{ height: above }} aria-hidden />
            {drawn.map((row) => (
              <tr key={row.key} aria-rowindex={row.index + 2} style={{ height: ROW }}>
                {(body[row.index] ?? []).map((cell, i) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
                  <td key={i}>{cell}</td>
                ))}
              </tr>
            ))}
            <tr style={{ height: below }} aria-hidden />
          </tbody>
        </table>
      </div>
      <footer className="app-status">{t("rows", { n: body.length })}</footer>
    </>
  );
}
