import { Button } from "#base/kit/Button.tsx";
import type { FeedState } from "#base/transport/feed.ts";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";

const words: Record<FeedState, string> = {
  connecting: "Connecting",
  live: "Live",
  polling: "Not live",
  reconnecting: "Reconnecting",
  given_up: "Not connected",
  logged_out: "Logged out",
};

const POLLING =
  "The live connection (a WebSocket) does not open: the browser or something on the way does not allow it. What happens is read every few seconds instead.";

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
      title={connection === "polling" ? POLLING : undefined}
    >
      <span className="connection-dot" />
      <span className={quiet.has(connection) ? "header-word" : ""}>{words[connection]}</span>
      {connection === "given_up" && <Button onClick={() => session.connect()}>Retry</Button>}
      {connection === "logged_out" && <span className="header-word">Open a new link: choir up --link</span>}
    </div>
  );
}
