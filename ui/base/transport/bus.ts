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

/** How long the server may take for the connection, and then for the subscriptions, in milliseconds. */
const PATIENCE_MS = 4_000;

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
    timeout: PATIENCE_MS,
  });
  listen(nc, grant, hear);
  await answered(nc);
  return { ended: nc.closed().then(() => undefined), drain: () => nc.drain() };
}

/** Returns once the subscriptions are in force, which the server's answer says; throws when the connection ends, or nothing comes in time. */
async function answered(nc: NatsConnection): Promise<void> {
  // The client's own wait never ends when the connection does.
  const ended = nc.closed().then((why) => {
    throw why || new Error("the connection ended");
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error("the server did not answer")), PATIENCE_MS);
  });
  try {
    await Promise.race([nc.flush(), ended, late]);
  } catch (why) {
    await nc.close();
    throw why;
  } finally {
    clearTimeout(timer);
  }
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
