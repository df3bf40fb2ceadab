import { useMemo, useState } from "react";
import type { Event } from "#base/domain/contracts.ts";
import { Button } from "#base/kit/Button.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { sentenceOf } from "../../domain/sentence";
import { clock } from "../../domain/time";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";
import "./events.css";

/** Rows drawn at once. */
const SHOWN = 300;

/** The log as it grows, newest first, filtered by words. */
export function Events() {
  const session = useSession();
  const events = useStore((s) => s.events);
  const route = useStore((s) => s.route);
  const [typed, setTyped] = useState("");
  const [mine, setMine] = useState(false);
  const run = mine && route.page === "run" ? route.run : undefined;
  const found = useMemo(() => filterEvents(events, typed, run), [events, typed, run]);
  const more = (events[0]?.seq ?? 1) > 1;
  return (
    <div className="events">
      <input
        type="search"
        className="events-filter"
        aria-label={t("events.filter")}
        placeholder={t("events.filterPlaceholder")}
        value={typed}
        onChange={(e) => setTyped(e.target.value)}
      />
      {route.page === "run" && (
        <label className="events-mine">
          <input type="checkbox" checked={mine} onChange={(e) => setMine(e.target.checked)} /> {t("events.onlyRun")}
        </label>
      )}
      <ol className="events-list">
        {found.slice(0, SHOWN).map((event) => (
          <Row key={event.seq} event={event} />
        ))}
      </ol>
      {found.length === 0 && <p className="side-none">{t("events.none")}</p>}
      {more && (
        <Button look="quiet" onClick={() => unawaited(session.lookBack())}>
          {t("events.earlier")}
        </Button>
      )}
    </div>
  );
}

/** Newest first; each word must be in the sentence or the type. */
function filterEvents(events: readonly Event[], typed: string, run: string | undefined): Event[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (e: Event) => {
    if (run && e.run !== run) return false;
    if (words.length === 0) return true;
    const text = `${e.type} ${sentenceOf(e)} ${e.seq}`.toLowerCase();
    return words.every((w) => text.includes(w));
  };
  return events.filter(fits).reverse();
}

function Row({ event }: { event: Event }) {
  const [open, setOpen] = useState(false);
  return (
    <li>
      <details className="event" onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>
          <span className="event-sentence">{sentenceOf(event)}</span>
          <span className="event-facts">
            <span>{event.seq}</span>
            <code>{event.type}</code>
            <time dateTime={event.time}>{clock(event.time)}</time>
          </span>
        </summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
        {open && <pre tabIndex={0}>{JSON.stringify(event, null, 2)}</pre>}
      </details>
    </li>
  );
}
