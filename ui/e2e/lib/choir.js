// Starts and stops a real choir on a fresh data folder.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The binary that make build leaves. */
export const binary = process.env.CHOIR_BINARY ?? fileURLToPath(new URL("../../../bin/choir", import.meta.url));

/** How long a start may take before the test gives up, in milliseconds. */
const START_MS = 30_000;

/**
 * A running choir. `extra` is appended to its choir.toml.
 * @param {string} [extra]
 */
export async function startChoir(extra = "") {
  const data = await mkdtemp(join(tmpdir(), "choir-e2e-"));
  // Each computer has a user of its own, who must be able to reach its folder.
  await chmod(data, 0o711);
  const config = `[listen]\naddress = "127.0.0.1:0"\n${extra}`;
  await writeFile(join(data, "choir.toml"), config);
  const began = performance.now();
  const child = spawn(binary, ["up", "--json", "--data", data], {
    stdio: ["ignore", "pipe", "pipe"],
    // For a scripted model, which does not look at it.
    env: { ...process.env, CHOIR_E2E_KEY: "none" },
  });
  const said = [];
  child.stderr.on("data", (chunk) => said.push(chunk));
  const lines = createInterface({ input: child.stdout });
  const timer = setTimeout(() => child.kill("SIGKILL"), START_MS);
  const up = await Promise.race([
    once(lines, "line").then(([line]) => JSON.parse(line)),
    once(child, "exit").then(() => {
      throw new Error(`choir up ended: ${Buffer.concat(said)}`);
    }),
  ]);
  clearTimeout(timer);
  return {
    ...up,
    data,
    startMs: performance.now() - began,
    /** Runs a verb of the CLI against this choir and gives its output. */
    async cli(...args) {
      const verb = spawn(binary, [...args, "--data", data], { stdio: ["ignore", "pipe", "pipe"] });
      const out = [];
      verb.stdout.on("data", (chunk) => out.push(chunk));
      verb.stderr.on("data", (chunk) => out.push(chunk));
      const [code] = await once(verb, "close");
      return { code, text: Buffer.concat(out).toString() };
    },
    async stop() {
      if (child.exitCode === null) {
        child.kill("SIGTERM");
        await once(child, "exit");
      }
      await rm(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
