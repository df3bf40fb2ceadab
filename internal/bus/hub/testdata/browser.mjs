// Plays the browser: connects with the official client through a WebSocket,
// asks for events, listens, and tries what it may not. Says one JSON line.
//   node browser.mjs FOLDER_WITH_NODE_MODULES URL CREDENTIALS USER COMPUTER OTHER_USER
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, servers, credentials, user, computer, other] = process.argv.slice(2);
const core = createRequire(`${folder}/package.json`).resolve("@nats-io/nats-core");
const { wsconnect, jwtAuthenticator } = await import(pathToFileURL(core));
const { jwt, seed, inbox, connection } = JSON.parse(credentials);

const nc = await wsconnect({
  servers,
  authenticator: jwtAuthenticator(jwt, new TextEncoder().encode(seed)),
  inboxPrefix: inbox,
});
const own = nc.subscribe(`user.${user}.${computer}.>`, { max: 3 });
const foreign = { heard: 0, refused: "" };
nc.subscribe(`user.${other}.>`, {
  callback: (err) => {
    if (err) foreign.refused = err.name;
    else foreign.heard++;
  },
});
const reply = await nc.request(
  `cmd.${user}.${computer}.events-after.shell.${connection}`,
  JSON.stringify({ seq: 0 }),
  { timeout: 110_000 },
);
const heard = [];
for await (const m of own) heard.push(m.json().seq);
await nc.flush();
console.log(JSON.stringify({ events: reply.json().ok.events.length, heard, foreign }));
await nc.close();
