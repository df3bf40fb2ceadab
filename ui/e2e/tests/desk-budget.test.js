import assert from "node:assert/strict";
import { test } from "node:test";
import { BUDGET, measureScript } from "../lib/budget.js";
import { startChoir } from "../lib/choir.js";
import { skip } from "../lib/rig.js";

test("the desktop's script stays within its budget until the prompt accepts keys", { skip }, async () => {
  const choir = await startChoir();
  try {
    const bytes = await measureScript(choir);
    assert.ok(bytes > 20_000, `only ${bytes} bytes were measured: the scripts were not seen`);
    assert.ok(bytes <= BUDGET, `${bytes} bytes of script, at most ${BUDGET}`);
  } finally {
    await choir.stop();
  }
});
