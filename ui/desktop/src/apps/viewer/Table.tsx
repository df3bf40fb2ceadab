import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import { nameOf } from "../../domain/path";
import { useWords } from "../../i18n/words";
import { Empty, Loading, Trouble } from "../../kit/States";
import { useStore } from "../../state/store";
import { words } from "./i18n";
import { MOST_ROWS, type Reading, useSheet } from "./useSheet";

const ROW = 30;

/** Rows by which the columns get their widths, and the bounds of those, in characters. */
const SAMPLE = 100;
const NARROW = 6;
const WIDE = 48;

/** The width of columns of so many characters, with the room around them. */
function widthOf(columns: readonly number[]): string {
  return `calc(${columns.reduce((sum, width) => sum + width, 0)}ch + ${columns.length * 30}px)`;
}

/** Comma-separated values. */
export function Table({ path }: { path: string }) {
  const t = useWords(words);
  const { reading, error, again } = useSheet(path);
  if (error) return <Trouble error={error} onAgain={again} />;
  if (!reading || (reading.rows === 0 && !reading.over)) return <Loading />;
  if (reading.rows === 0) return <Empty title={t("noRows")} />;
  return <Rows reading={reading} name={nameOf(path)} />;
}

/** A table of any length; only the rows that are seen exist. */
function Rows({ reading: { sheet, rows, over, cut }, name }: { reading: Reading; name: string }) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  const box = useRef<HTMLDivElement>(null);
  const seen = useVirtualizer({
    count: rows - 1,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const sampled = Math.min(rows, SAMPLE);
  const widths = useMemo(() => {
    const columns: number[] = [];
    for (let n = 0; n < sampled; n++) {
      for (const [i, cell] of sheet.row(n).entries()) columns[i] = Math.max(columns[i] ?? NARROW, cell.length);
    }
    return columns.map((width) => Math.min(width, WIDE));
  }, [sheet, sampled]);
  const drawn = seen.getVirtualItems();
  const above = drawn[0]?.start ?? 0;
  const below = seen.getTotalSize() - (drawn.at(-1)?.end ?? 0);
  const n = rows - 1;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <div className="viewer-table scroll" ref={box} tabIndex={0} data-autofocus>
        <table aria-label={t("table", { name })} aria-rowcount={rows} style={{ width: widthOf(widths) }}>
          <colgroup>
            {widths.map((width, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
              <col key={i} style={{ width: widthOf([width]) }} />
            ))}
          </colgroup>
          <thead>
            <tr>
              {sheet.row(0).map((cell, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
                <th key={i} scope="col" title={cell}>
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr style={{ height: above }} aria-hidden />
            {drawn.map((row) => (
              <tr key={row.key} aria-rowindex={row.index + 2} style={{ height: ROW }}>
                {sheet.row(row.index + 1).map((cell, i) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
                  <td key={i} title={cell.length > WIDE ? cell : undefined}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
            <tr style={{ height: below }} aria-hidden />
          </tbody>
        </table>
      </div>
      <footer className="app-status">
        <span role="status">
          {t("rows", { n, count: n.toLocaleString(language) })}
          {!over && ` · ${t("readingMore")}`}
          {cut && ` · ${t("cutTable", { most: MOST_ROWS.toLocaleString(language) })}`}
        </span>
      </footer>
    </>
  );
}
