import { useVirtualizer } from "@tanstack/react-virtual";
import { FolderOpen } from "lucide-react";
import { type KeyboardEvent, type MouseEvent, useEffect, useRef, useState } from "react";
import { nameOf, type SortBy } from "../../domain/path";
import { choose, type How, type Selection } from "../../domain/selection";
import { useWords } from "../../i18n/words";
import { Empty } from "../../kit/States";
import { useTypeAhead } from "../../kit/typeahead";
import { useNow } from "../../kit/useAge";
import { useWindow } from "../../session/useWindow";
import { open, type Shown } from "./Actions";
import { Entry } from "./Entry";
import { words } from "./i18n";
import type { Item, Place } from "./place";

interface Props {
  place: Place;
  items: readonly Item[];
  ids: readonly string[];
  look: "list" | "grid";
  sort: { by: SortBy; down: boolean };
  onSort(by: SortBy): void;
  selection: Selection;
  onSelect(selection: Selection): void;
  shown: Shown;
}

const ROW = 36;
const CELL = { width: 132, height: 122 };

/** The entries, of which only those exist that are seen. */
export function Listing({ place, items, ids, look, sort, onSort, selection, onSelect, shown }: Props) {
  const t = useWords(words);
  const win = useWindow();
  const box = useRef<HTMLDivElement>(null);
  const lanes = useLanes(box, look);
  const now = useNow();
  // Asked once: there may be tens of thousands of rows.
  const height = look === "grid" ? CELL.height : rowHeight();
  const rows = useVirtualizer({
    count: Math.ceil(items.length / lanes),
    getScrollElement: () => box.current,
    estimateSize: () => height,
    overscan: 8,
  });
  const at = items[selection.at];
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another look have another height
  useEffect(() => rows.measure(), [height, rows]);
  const to = (place: number, how: How) => {
    onSelect(choose(ids, selection, place, how));
    rows.scrollToIndex(Math.floor(Math.max(0, place) / lanes));
  };
  const typeAhead = useTypeAhead(
    () => items.map((i) => nameOf(i.file.path)),
    (place) => to(place, "only"),
  );
  const press = (e: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 400) / ROW)) * lanes;
    const moves: Record<string, number> = {
      ArrowDown: lanes,
      ArrowUp: -lanes,
      PageDown: page,
      PageUp: -page,
      Home: -items.length,
      End: items.length,
    };
    if (lanes > 1) Object.assign(moves, { ArrowRight: 1, ArrowLeft: -1 });
    const by = moves[e.key];
    const mod = e.ctrlKey || e.metaKey;
    if (by !== undefined && !e.altKey) {
      // The first step goes to the first entry; only End means the last.
      const fresh = selection.chosen.size === 0 && by > 0 && selection.at === 0 && e.key !== "End";
      to(fresh ? 0 : selection.at + by, e.shiftKey ? "range" : mod ? "walk" : "only");
    } else if (mod && e.key.toLowerCase() === "a") onSelect({ ...selection, chosen: new Set(ids) });
    else if (mod && e.key === " ") to(selection.at, "toggle");
    else if (e.key === "Escape") onSelect({ ...selection, chosen: new Set() });
    else {
      typeAhead.press(e);
      return;
    }
    e.preventDefault();
  };
  const point = (e: MouseEvent, i: number) => {
    const many = e.ctrlKey || e.metaKey;
    // A right click on what is chosen keeps all that is.
    if (e.button === 2 && selection.chosen.has(ids[i] ?? "")) return;
    to(i, e.shiftKey ? "range" : many ? "toggle" : "only");
  };
  if (items.length === 0)
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys of a folder go on in an empty one
      <section className="files-rows" tabIndex={0} data-autofocus aria-label={t("list")}>
        <Nothing place={place} />
      </section>
    );
  return (
    <div className="files-list" data-look={look}>
      {look === "list" && <Heads sort={sort} onSort={onSort} />}
      <div
        ref={box}
        className="files-rows scroll"
        role="listbox"
        tabIndex={0}
        data-autofocus
        aria-label={t("list")}
        aria-multiselectable
        aria-activedescendant={at && `${win.id}-${selection.at}`}
        onKeyDown={press}
      >
        <div className="files-tall" style={{ height: rows.getTotalSize() }} role="presentation">
          {rows.getVirtualItems().flatMap((row) =>
            items.slice(row.index * lanes, (row.index + 1) * lanes).map((item, lane) => {
              const i = row.index * lanes + lane;
              return (
                <Entry
                  key={item.id}
                  id={`${win.id}-${i}`}
                  item={item}
                  look={look}
                  top={row.start}
                  lane={lane}
                  lanes={lanes}
                  place={i}
                  count={items.length}
                  chosen={selection.chosen.has(item.id)}
                  active={i === selection.at}
                  all={shown.chosen}
                  now={now}
                  onPoint={point}
                  onOpen={() => place.is !== "trash" && open(item.file, win.open, shown)}
                />
              );
            }),
          )}
        </div>
      </div>
    </div>
  );
}

function rowHeight(): number {
  return matchMedia("(pointer: coarse), (max-width: 900px)").matches ? 48 : ROW;
}

/** How many entries are beside each other. */
function useLanes(box: React.RefObject<HTMLDivElement | null>, look: "list" | "grid"): number {
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  });
  return look === "grid" ? Math.max(1, Math.floor(width / CELL.width)) : 1;
}

function Heads({ sort, onSort }: { sort: { by: SortBy; down: boolean }; onSort(by: SortBy): void }) {
  const t = useWords(words);
  const heads = [
    ["name", "name"],
    ["size", "size"],
    ["time", "changed"],
  ] as const;
  return (
    <div className="files-heads">
      {heads.map(([by, word]) => (
        <button
          key={by}
          type="button"
          data-by={by}
          aria-label={t("sortBy", { what: t(word) })}
          aria-pressed={sort.by === by}
          onClick={() => onSort(by)}
        >
          {t(word)} {sort.by === by && <span aria-hidden>{sort.down ? "↓" : "↑"}</span>}
        </button>
      ))}
    </div>
  );
}

function Nothing({ place }: { place: Place }) {
  const t = useWords(words);
  const icon = <FolderOpen size={38} strokeWidth={1.4} aria-hidden />;
  if (place.is === "trash") return <Empty icon={icon} title={t("trashEmpty")} />;
  if (place.is === "search") return <Empty icon={icon} title={t("nothingFound")} />;
  return (
    <Empty icon={icon} title={t("empty")}>
      {t("emptyMore")}
    </Empty>
  );
}
