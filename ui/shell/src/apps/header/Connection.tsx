import { Button } from "#base/kit/Button.tsx";
import type { FeedState } from "#base/transport/feed.ts";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { type Key, t } from "../../words/words";

const words = {
  connecting: "bar.connecting",
  live: "bar.live",
  polling: "bar.polling",
  reconnecting: "bar.reconnecting",
  given_up: "bar.givenUp",
  logged_out: "bar.loggedOut",
} as const satisfies Record<FeedState, Key>;

/** States that a small screen shows by the dot alone: the first connection is made as the page opens. */
const quiet: ReadonlySet<FeedState> = new Set(["live", "connecting"]);

/** Whether what is seen is what is; the way to try again when not. */
export function Connection() {
  const session = useSession();
  const connection = useStore((s) => s.connection);
  return (
    <div
      className={`connection connection-${connection}`}
      role="status"
      title={connection === "polling" ? t("bar.pollingWhy") : undefined}
    >
      <span className="connection-dot" />
      <span className={quiet.has(connection) ? "header-word" : ""}>{t(words[connection])}</span>
      {connection === "given_up" && <Button onClick={() => session.connect()}>{t("bar.retry")}</Button>}
      {connection === "logged_out" && <span className="header-word">{t("bar.newLink")}</span>}
    </div>
  );
}
