// Runs Fly's official npm client against a server of the Sprites API and prints a line of
// JSON for each case, so that the server is right by the client's word.
// Usage: node check.mjs URL TOKEN
//
// The client wants Node 24, because of a WebSocket that takes headers. Older ones have it
// from undici, which is where Node 24 has its own from.
import assert from "node:assert/strict";
import { WebSocket } from "undici";

if (Number(process.versions.node.split(".")[0]) < 24) globalThis.WebSocket = WebSocket;
const { SpritesClient, ExecError } = await import("@fly/sprites");

const [url, token] = process.argv.slice(2);
const client = new SpritesClient(token, { baseURL: url, timeout: 10_000 });
const name = `client-${process.pid}`;
const cases = {};

const refusal = async (run) => {
  try {
    await run();
  } catch (err) {
    return err;
  }
  assert.fail("it was not refused");
};

// The output of a command that is spawned, and its exit code.
const outputOf = (cmd) =>
  new Promise((resolve, reject) => {
    const out = [];
    cmd.stdout.on("data", (chunk) => out.push(chunk));
    cmd.on("error", reject);
    cmd.on("exit", (code) => resolve({ code, text: Buffer.concat(out).toString() }));
  });

let sprite;

cases["a sprite is made"] = async () => {
  sprite = await client.createSprite(name, { config: { ramMB: 512, cpus: 1 }, urlSettings: { auth: "sprite" } });
  assert.equal(sprite.name, name);
  assert.equal(sprite.status, "running");
  assert.equal(sprite.config.ramMB, 512);
  assert.ok(sprite.createdAt instanceof Date);
};

cases["it is found by its name, and in the list"] = async () => {
  assert.equal((await client.getSprite(name)).name, name);
  assert.deepEqual(
    (await client.listAllSprites(name)).map((s) => s.name),
    [name],
  );
  assert.deepEqual(await client.listAllSprites("nobody-"), []);
  assert.equal((await client.checkSprite(name)).status, "ok");
};

cases["a list has pages"] = async () => {
  const more = ["a", "b", "c"].map((end) => `${name}-${end}`);
  for (const one of more) await client.createSprite(one);
  const first = await client.listSprites({ prefix: `${name}-`, maxResults: 2 });
  assert.deepEqual(
    first.sprites.map((s) => s.name),
    more.slice(0, 2),
  );
  assert.equal(first.hasMore, true);
  const second = await client.listSprites({ prefix: `${name}-`, maxResults: 2, continuationToken: first.nextContinuationToken });
  assert.deepEqual(
    second.sprites.map((s) => s.name),
    more.slice(2),
  );
  assert.equal(second.hasMore, false);
  for (const one of more) await client.deleteSprite(one);
};

cases["a name that is taken, or none, is refused"] = async () => {
  assert.equal((await refusal(() => client.createSprite(name))).statusCode, 409);
  assert.equal((await refusal(() => client.createSprite("Not A Name"))).statusCode, 400);
};

cases["a command has an output"] = async () => {
  const { stdout, stderr, exitCode } = await sprite.exec("echo hello world");
  assert.equal(stdout, "hello world\n");
  assert.equal(stderr, "");
  assert.equal(exitCode, 0);
};

cases["standard error is told apart"] = async () => {
  const { stdout, stderr } = await sprite.execFile("sh", ["-c", "echo out; echo err >&2"]);
  assert.equal(stdout, "out\n");
  assert.equal(stderr, "err\n");
};

for (const code of [1, 7, 255]) {
  cases[`a command ends with code ${code}`] = async () => {
    const err = await refusal(() => sprite.execFile("sh", ["-c", `echo before; exit ${code}`]));
    assert.ok(err instanceof ExecError, err.stack);
    assert.equal(err.exitCode, code);
    assert.equal(err.stdout, "before\n");
  };
}

cases["a program that there is not ends with code 127"] = async () => {
  assert.equal((await refusal(() => sprite.execFile("no-such-program"))).exitCode, 127);
};

cases["a command has an input, which ends"] = async () => {
  const cmd = sprite.spawn("cat");
  const output = outputOf(cmd);
  await new Promise((resolve) => cmd.on("spawn", resolve));
  const text = "0123456789abcdef".repeat(8 << 10);
  cmd.stdin.write(text);
  cmd.stdin.end();
  const { code, text: back } = await output;
  assert.equal(code, 0);
  assert.ok(back === text, `of ${text.length} characters ${back.length} came back`);
};

cases["a command has a folder and an environment"] = async () => {
  const { stdout } = await sprite.execFile("sh", ["-c", 'echo "$PWD $GREETING"'], { cwd: "/tmp", env: { GREETING: "good day" } });
  assert.equal(stdout, "/tmp good day\n");
};

cases["a command is ended by a signal"] = async () => {
  const cmd = sprite.spawn("sleep", ["60"]);
  const output = outputOf(cmd);
  await new Promise((resolve) => cmd.on("spawn", resolve));
  cmd.kill("SIGTERM");
  assert.equal((await output).code, 143);
};

cases["a terminal"] = async () => {
  const cmd = sprite.spawn("sh", ["-c", "test -t 0 && stty size; read line; echo got $line"], { tty: true, rows: 33, cols: 99 });
  const output = outputOf(cmd);
  await new Promise((resolve) => cmd.on("spawn", resolve));
  cmd.stdin.write("typed\n");
  const { code, text } = await output;
  assert.equal(code, 0);
  assert.match(text, /33 99\r\n/);
  assert.match(text, /got typed\r\n/);
};

cases["a session goes on without its client"] = async () => {
  const cmd = sprite.createSession("sh", ["-c", "read line; echo got $line"]);
  await new Promise((resolve) => cmd.on("spawn", resolve));
  const [session] = await sprite.listSessions();
  assert.match(session.command, /read line/);
  assert.equal(session.tty, true);
  cmd.wsCmd.close();
  await cmd.wait();
  const again = sprite.attachSession(session.id);
  const output = outputOf(again);
  await new Promise((resolve) => again.on("spawn", resolve));
  again.stdin.write("later\n");
  assert.match((await output).text, /got later/);
  assert.deepEqual(await sprite.listSessions(), []);
};

cases["files are written, read, listed and removed"] = async () => {
  const files = sprite.filesystem("/");
  await files.writeFile("/srv/deep/a", "content", { mode: 0o750 });
  assert.equal(await files.readFile("/srv/deep/a", "utf8"), "content");
  const { stdout } = await sprite.exec("stat -c %a /srv/deep/a");
  assert.equal(stdout, "750\n");
  assert.deepEqual(await files.readdir("/srv/deep"), ["a"]);
  const stats = await files.stat("/srv/deep/a");
  assert.equal(stats.size, 7);
  assert.ok(stats.isFile());
  await files.rename("/srv/deep/a", "/srv/deep/b");
  await files.chmod("/srv/deep/b", 0o600);
  assert.equal((await files.stat("/srv/deep/b")).mode, 0o600);
  assert.equal(await files.exists("/srv/deep/a"), false);
  await files.rm("/srv/deep", { recursive: true });
  assert.equal((await refusal(() => files.readFile("/srv/deep/b"))).code, "ENOENT");
};

cases["no path leads out of a sprite"] = async () => {
  const files = sprite.filesystem("/");
  await sprite.execFile("sh", ["-c", "echo inside >/tmp/inside; ln -s ../../../../../../../../tmp/inside /tmp/link"]);
  assert.equal(await files.readFile("../../../tmp/inside", "utf8"), "inside\n");
};

cases["a network policy is kept"] = async () => {
  const rules = [{ domain: "*", action: "deny" }];
  await sprite.updateNetworkPolicy({ rules });
  assert.deepEqual(await sprite.getNetworkPolicy(), { rules });
  await assert.rejects(sprite.updateNetworkPolicy({ rules: [{ domain: "x", action: "perhaps" }] }), /Invalid policy/);
};

cases["a sprite that is deleted is gone"] = async () => {
  await sprite.delete();
  assert.equal((await refusal(() => client.getSprite(name))).statusCode, 404);
  assert.equal((await refusal(() => sprite.delete())).statusCode, 404);
  assert.match((await refusal(() => sprite.exec("true"))).message, /WebSocket/);
};

cases["a wrong token is refused"] = async () => {
  const stranger = new SpritesClient("wrong", { baseURL: url });
  assert.equal((await refusal(() => stranger.createSprite(`${name}-x`))).statusCode, 401);
  assert.equal((await refusal(() => stranger.listSprites())).statusCode, 401);
  assert.match((await refusal(() => stranger.sprite(name).exec("true"))).message, /WebSocket/);
};

for (const [title, run] of Object.entries(cases)) {
  let failed = "";
  const began = Date.now();
  try {
    await run();
  } catch (err) {
    failed = String(err.stack ?? err);
  }
  console.log(JSON.stringify({ name: title, failed, ms: Date.now() - began }));
}
