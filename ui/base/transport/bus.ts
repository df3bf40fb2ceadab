import { jwtAuthenticator, type NatsConnection, type Subscription, wsconnect } from "@nats-io/nats-core";
import type { Event } from "../domain/contracts";
import type { DraftChanged, Grant } from "../domain/views";

/** What arrives on one connection. */
export interface Hear {
  event(event: Event): void;
  /** Streaming text of one role in a run. */
  live(run: string, role: string, text: string): void;
  /** What is typed and not saved was changed; only a desktop may hear it. */
  draft?(changed: DraftChanged): void;
}

/** One connection to the bus. */
export interface Line {
  /** Settles when the connection has ended, for whatever reason. */
  ended: Promise<void>;
  /** Hears what is under way, then ends. */
  drain(): Promise<void>;
}

/** Opens a connection with credentials of its own and hears all this computer tells. */
export async function openLine(grant: Grant, hear: Hear): Promise<Line> {
  // The client would wait for ever.
  if (!("WebSocket" in globalThis)) throw new Error("this browser has no WebSocket");
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const nc = await wsconnect({
    servers: [`${scheme}://${location.host}/bus`],
    authenticator: jwtAuthenticator(grant.jwt, new TextEncoder().encode(grant.seed)),
    inboxPrefix: grant.inbox,
    // Every connection needs credentials of its own, so we connect again ourselves.
    reconnect: false,
    ignoreClusterUpdates: true,
    pingInterval: 15_000,
    maxPingOut: 2,
    timeout: 4_000,
  });
  listen(nc, grant, hear);
  // The subscriptions are in force once the server has answered.
  await nc.flush();
  return { ended: nc.closed().then(() => undefined), drain: () => nc.drain() };
}

function listen(nc: NatsConnection, { user, computer }: Grant, hear: Hear): void {
  // Exactly as wide as the permissions: a wider or narrower wildcard is refused.
  for (const subject of [`user.${user}.${computer}.>`, `agent.${user}.${computer}.*.>`]) {
    follow(nc, subject, (_, data) => hear.event(JSON.parse(data) as Event));
  }
  follow(nc, `live.${user}.${computer}.*.*`, (subject, data) => {
    const [, , , role = "", run = ""] = subject.split(".");
    hear.live(run, role, data);
  });
  const { draft } = hear;
  if (draft) follow(nc, `draft.${user}.${computer}`, (_, data) => draft(JSON.parse(data) as DraftChanged));
}

type Take = (subject: string, data: string) => void;

/** Hands over what comes on a subject. A failure ends the line, and whoever follows it opens another and reads what is missing. */
function follow(nc: NatsConnection, subject: string, take: Take): void {
  pump(nc.subscribe(subject), take).catch(() => nc.close());
}

async function pump(sub: Subscription, take: Take): Promise<void> {
  for await (const message of sub) take(message.subject, message.string());
}
