import "./tabs.css";

/** A row of tabs. The panel they choose has the id `panel`. */
export function Tabs<T extends string>({
  label,
  tabs,
  chosen,
  panel,
  onChoose,
}: {
  label: string;
  tabs: readonly { id: T; title: string; count?: number }[];
  chosen: T;
  panel: string;
  onChoose(id: T): void;
}) {
  const move = (e: React.KeyboardEvent, at: number) => {
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (!by || !next) return;
    e.preventDefault();
    onChoose(next.id);
    const row = e.currentTarget.parentElement;
    (row?.children[(at + by + tabs.length) % tabs.length] as HTMLElement | undefined)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label}>
      {tabs.map((tab, at) => (
        <button
          type="button"
          role="tab"
          key={tab.id}
          aria-selected={tab.id === chosen}
          aria-controls={panel}
          tabIndex={tab.id === chosen ? 0 : -1}
          onClick={() => onChoose(tab.id)}
          onKeyDown={(e) => move(e, at)}
        >
          {tab.title}
          {tab.count ? <span className="tabs-count">{tab.count}</span> : null}
        </button>
      ))}
    </div>
  );
}
