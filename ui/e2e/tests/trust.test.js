import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { test } from "node:test";
import { fromSeed } from "@nats-io/nkeys";
import { within } from "../lib/limits.js";
import { api, rig, skip } from "../lib/rig.js";

const it = rig({ browser: { stock: true } });

/** A request by address, with the shell's name, as curl --resolve would make it. */
async function raw(path, { method = "GET", headers = {} } = {}) {
  const { host, port } = new URL(it.choir.address);
  const r = request({ host: "127.0.0.1", port, path, method, headers: { Host: host, ...headers } });
  r.end();
  const [response] = await within(once(r, "response"), `an answer to ${method} ${path}`);
  response.resume();
  return response;
}

test("the page carries strict headers", { skip }, async () => {
  const { headers } = await raw("/");
  const policy = headers["content-security-policy"];
  for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
    assert.ok(policy.includes(part), `${part} is not in ${policy}`);
  }
  assert.doesNotMatch(policy, /script-src[^;]*unsafe/);
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["x-frame-options"], "DENY");
});

test("an inline script does not run", { skip }, async () => {
  const ran = await it.page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "globalThis.sneaked = true";
    document.body.append(script);
    return globalThis.sneaked === true;
  });
  assert.equal(ran, false);
  // The refusal itself is told on the console.
  assert.match(it.complaints.splice(0).join(), /Content Security Policy/);
});

test("the session is nothing that scripts can read", { skip }, async () => {
  assert.equal(await it.page.evaluate(() => document.cookie), "");
  const [cookie] = await it.context.cookies();
  assert.deepEqual(
    [cookie.name, cookie.httpOnly, cookie.secure, cookie.sameSite],
    ["__Host-choir", true, true, "Strict"],
  );
});

test("without a session nothing is told", { skip }, async () => {
  assert.equal((await raw("/api/computers")).statusCode, 401);
  assert.equal((await raw("/bus")).statusCode, 401);
});

test("a mutation from another origin is refused", { skip }, async () => {
  const answer = await raw("/auth/login", { method: "POST", headers: { Origin: "http://evil.localhost" } });
  assert.equal(answer.statusCode, 403);
});

test("an unknown name is refused", { skip }, async () => {
  assert.equal((await raw("/", { headers: { Host: "evil.example" } })).statusCode, 421);
});

test("the browser's credentials hear its own computer only", { skip }, async () => {
  const { body: grant } = await api(it.page, "/bus", { method: "POST" });
  await it.page.exposeFunction("signNonce", (seed, nonce) => {
    const signature = fromSeed(new TextEncoder().encode(seed)).sign(new TextEncoder().encode(nonce));
    return Buffer.from(signature).toString("base64url");
  });
  const { user, computer } = grant;
  const foreign = ["user.>", "agent.>", "live.>", "cmd.>", ">", `task.${user}.${computer}.director`, "_INBOX.>"];
  const own = [`user.${user}.${computer}.>`, `agent.${user}.${computer}.*.>`, `live.${user}.${computer}.*.*`];
  for (const subject of foreign)
    assert.equal(await it.page.evaluate(subscribe, { grant, subject }), "refused", subject);
  for (const subject of own) assert.equal(await it.page.evaluate(subscribe, { grant, subject }), "heard", subject);
});

test("nothing else was complained about on the console", { skip }, () => assert.deepEqual(it.complaints, []));

/** Runs in the page: speaks the bus's own protocol and subscribes to one subject. */
function subscribe({ grant, subject }) {
  return new Promise((done, fail) => {
    const socket = new WebSocket(`ws://${location.host}/bus`);
    const say = (text) => socket.send(new TextEncoder().encode(text));
    let told = "";
    socket.binaryType = "arraybuffer";
    socket.onerror = () => fail(new Error("the socket was refused"));
    socket.onmessage = async ({ data }) => {
      const text = new TextDecoder().decode(data);
      told += text;
      if (text.startsWith("INFO")) {
        const { nonce } = JSON.parse(text.slice(5));
        const sig = await globalThis.signNonce(grant.seed, nonce);
        const who = { verbose: false, pedantic: false, jwt: grant.jwt, sig, lang: "test", version: "1", protocol: 1 };
        say(`CONNECT ${JSON.stringify(who)}\r\nSUB ${subject} 1\r\nPING\r\n`);
      }
      // What is refused is refused before the PING behind it is answered.
      if (told.includes("-ERR")) done(/Permissions Violation/i.test(told) ? "refused" : told);
      else if (told.includes("PONG")) done("heard");
      else return;
      socket.close();
    };
  });
}
