// Starts and stops a real choir on a fresh data folder.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { within } from "./limits.js";

/** The binary that make build leaves. */
export const binary = process.env.CHOIR_BINARY ?? fileURLToPath(new URL("../../../bin/choir", import.meta.url));

/** Every choir that runs: none outlives its test, however that ends. */
const running = new Set();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
process.once("SIGTERM", () => process.exit(143));

/** How long a start may take before the test gives up, in milliseconds. */
const START_MS = 30_000;

/** A port that nothing listens on. */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Runs `choir up` on a data folder until it has printed where it is. `said` gets what it prints as errors. */
async function up(data, said = []) {
  const child = spawn(binary, ["up", "--json", "--data", data], {
    stdio: ["ignore", "pipe", "pipe"],
    // For a scripted model, which does not look at it.
    env: { ...process.env, CHOIR_E2E_KEY: "none" },
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  child.stderr.on("data", (chunk) => said.push(chunk));
  const timer = setTimeout(() => child.kill("SIGKILL"), START_MS);
  const printed = await Promise.race([
    once(createInterface({ input: child.stdout }), "line").then(([line]) => JSON.parse(line)),
    once(child, "exit").then(() => {
      throw new Error(`choir up ended: ${Buffer.concat(said)}`);
    }),
  ]);
  clearTimeout(timer);
  return { child, printed };
}

async function down(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await within(ended, `choir ended by ${signal}`).finally(() => child.kill("SIGKILL"));
}

/**
 * A running choir. `extra` is appended to its choir.toml.
 * @param {string} [extra]
 */
export async function startChoir(extra = "") {
  const data = await mkdtemp(join(tmpdir(), "choir-e2e-"));
  // Each computer has a user of its own, who must be able to reach its folder.
  await chmod(data, 0o711);
  // A port of its own, which it keeps when it is started again.
  await writeFile(join(data, "choir.toml"), `[listen]\naddress = "127.0.0.1:${await freePort()}"\n${extra}`);
  const began = performance.now();
  const said = [];
  let { child, printed } = await up(data, said);
  return {
    ...printed,
    /** What it has printed as errors. */
    said: () => Buffer.concat(said).toString(),
    /** Its data folder. */
    data,
    startMs: performance.now() - began,
    /** Another one-time link to log in with. */
    async link() {
      const { stdout } = await promisify(execFile)(binary, ["up", "--link", "--data", data], { timeout: START_MS });
      return stdout.trim();
    },
    /** Kills it, as a crash would. */
    kill: () => down(child, "SIGKILL"),
    /** Starts it again on the same data. */
    async again() {
      ({ child, printed } = await up(data, said));
    },
    async stop() {
      await down(child, "SIGTERM");
      await rm(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
