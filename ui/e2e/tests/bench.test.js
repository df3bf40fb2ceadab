import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { PATIENCE_MS } from "../lib/browser.js";
import { binary } from "../lib/choir.js";
import { skip } from "../lib/rig.js";

test("choir bench measures in the browser, and says how it was", { skip }, async () => {
  const cwd = fileURLToPath(new URL("../../..", import.meta.url));
  const args = ["bench", "deliver", "--quick", "--json"];
  // A missed target is no matter here: three samples on a busy machine.
  const { stdout } = await promisify(execFile)(binary, args, { cwd, timeout: 2 * PATIENCE_MS }).catch((error) => {
    if (error.code === 1 && error.stdout) return error;
    throw error;
  });
  const rows = stdout.trim().split("\n").map(JSON.parse);
  assert.deepEqual(
    rows.map((r) => r.case),
    ["commit to page", "commit to page, p99", "commit to page, beside raw NATS"],
  );
  for (const row of rows) {
    assert.equal(row.skipped, "");
    assert.equal(row.failures, 0);
    assert.ok(row.median > 0 && row.peer_median > 0, JSON.stringify(row));
    assert.equal(row.met === null, row.case === "commit to page, beside raw NATS", JSON.stringify(row)); // it has no target
  }
});
