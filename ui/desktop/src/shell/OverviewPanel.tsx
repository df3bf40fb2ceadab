import { X } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Dialog } from "#base/kit/Dialog.tsx";
import { appOf } from "../apps/registry";
import { placeIn, type Win } from "../domain/windows";
import { neighbour, onDesktop } from "../domain/wmorder";
import { overviewOf } from "../domain/wmplace";
import { deskWords } from "../i18n/desk";
import { useNamed, useWords } from "../i18n/words";
import { useSession } from "../session/session";
import { useStore } from "../state/store";
import { useNarrow } from "./useNarrow";
import "./overview.css";

const ways = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" } as const;

/** All windows of the desktop beside each other; one is chosen by pointer or arrow keys. */
export function OverviewPanel() {
  const { windows } = useSession();
  const t = useWords(deskWords);
  const desktop = useStore((s) => s.desktop);
  const all = useStore((s) => s.windows);
  const area = useStore((s) => s.area);
  const setPanel = useStore((s) => s.setPanel);
  const narrow = useNarrow();
  const here = onDesktop(all, desktop).reverse();
  const space = { width: area.width - (narrow ? 24 : 80), height: area.height - (narrow ? 60 : 90) };
  const cells = overviewOf(here.length, space, narrow ? 12 : 24);
  const [at, setAt] = useState(0);
  const grid = useRef<HTMLUListElement>(null);
  const chosen = Math.min(at, here.length - 1);
  useEffect(() => grid.current?.querySelectorAll<HTMLElement>("[data-cell]")[chosen]?.focus(), [chosen]);
  const press = (e: KeyboardEvent) => {
    const way = ways[e.key as keyof typeof ways];
    const win = here[chosen];
    if (way) setAt(neighbour(cells, chosen, way));
    else if (e.key === "Delete" && win) windows.close(win.id);
    else return;
    e.preventDefault();
  };
  const choose = (win: Win) => {
    setPanel(undefined);
    windows.focus(win.id);
  };
  return (
    <Dialog label={t("overview")} className="overview" onClose={() => setPanel(undefined)}>
      {here.length === 0 && <p className="overview-none">{t("noWindows")}</p>}
      <ul ref={grid} className="overview-grid" style={{ height: space.height }} onKeyDown={press}>
        {here.map((win, i) => (
          <Cell
            key={win.id}
            win={win}
            cell={cells[i]}
            onChoose={() => choose(win)}
            onClose={() => windows.close(win.id)}
          />
        ))}
      </ul>
    </Dialog>
  );
}

interface CellProps {
  win: Win;
  cell: { x: number; y: number; width: number; height: number } | undefined;
  onChoose(): void;
  onClose(): void;
}

function Cell({ win, cell, onChoose, onClose }: CellProps) {
  const t = useWords(deskWords);
  const named = useNamed();
  const app = appOf(win.app);
  const title = win.title || (app ? named(app.title) : win.app);
  const place = placeIn(win.subject ?? "");
  const Icon = app?.icon;
  return (
    <li
      className="overview-cell"
      data-minimised={win.state === "minimised"}
      style={cell && { left: cell.x, top: cell.y, width: cell.width, height: cell.height }}
    >
      <button type="button" data-cell className="overview-choose" onClick={onChoose}>
        {Icon && <Icon size={30} aria-hidden />}
        <span>{title}</span>
        {place && place !== title && <small>{place}</small>}
      </button>
      <button
        type="button"
        className="title-button overview-close"
        aria-label={t("closeNamed", { title })}
        onClick={onClose}
      >
        <X size={16} aria-hidden />
      </button>
    </li>
  );
}
