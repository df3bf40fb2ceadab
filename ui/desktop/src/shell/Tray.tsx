import { CloudOff } from "lucide-react";
import { useEffect, useState } from "react";
import type { FeedState } from "#base/transport/feed.ts";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { useSession } from "../session/session";
import { useStore } from "../state/store";

/** Virtual desktops, the connection and the time. */
export function Tray() {
  const { windows } = useSession();
  const t = useWords(deskWords);
  const desktop = useStore((s) => s.desktop);
  const desktops = useStore((s) => s.desktops);
  const used = useStore((s) => s.windows.map((w) => w.desktop ?? 0).join());
  const language = useStore((s) => s.language);
  return (
    <div className="tray">
      <Connection />
      <fieldset className="tray-desktops">
        <legend className="visually-hidden">{t("desktopsLabel")}</legend>
        {Array.from({ length: desktops }, (_, n) => (
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: a virtual desktop is its number
            key={n}
            type="button"
            aria-label={t("desktopN", { n: n + 1 })}
            aria-pressed={n === desktop}
            data-used={used.split(",").includes(String(n))}
            onClick={() => windows.goTo(n)}
          >
            {n + 1}
          </button>
        ))}
      </fieldset>
      <Clock language={language} />
    </div>
  );
}

function Clock({ language }: { language: string }) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setTimeout(() => setNow(new Date()), 60_000 - (Date.now() % 60_000));
    return () => clearTimeout(timer);
  });
  return (
    <time className="tray-clock" dateTime={now.toISOString()}>
      <b>{now.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" })}</b>
      <span>{now.toLocaleDateString(language, { weekday: "short", day: "numeric", month: "short" })}</span>
    </time>
  );
}

type Word = keyof (typeof deskWords)["en"];

/** What is said of a connection that is not as it should be, and what it means. */
const trouble: Partial<Record<FeedState, [told: Word, why?: Word]>> = {
  polling: ["notLive", "notLiveWhy"],
  reconnecting: ["reconnecting", "offline"],
  given_up: ["reconnecting", "offline"],
  logged_out: ["loggedOut"],
};

/** Says when the computer is out of reach. */
export function Connection() {
  const t = useWords(deskWords);
  const connection = useStore((s) => s.connection);
  const [told, why] = trouble[connection] ?? [];
  return (
    <span className="tray-connection" role="status">
      {told && (
        <span className="tray-away" title={t(why ?? told)}>
          <CloudOff size={16} aria-hidden /> {t(told)}
        </span>
      )}
    </span>
  );
}
