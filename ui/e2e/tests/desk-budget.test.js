import assert from "node:assert/strict";
import { test } from "node:test";
import { BUDGET, FILES, scriptFiles } from "../lib/budget.js";
import { startChoir } from "../lib/choir.js";
import { skip } from "../lib/rig.js";

test("the desktop's script stays within its budget until the prompt accepts keys, in few files", { skip }, async () => {
  const choir = await startChoir();
  try {
    const files = await scriptFiles(choir);
    const bytes = files.reduce((sum, n) => sum + n, 0);
    assert.ok(bytes > 20_000, `only ${bytes} bytes were measured: the scripts were not seen`);
    assert.ok(bytes <= BUDGET, `${bytes} bytes of script, at most ${BUDGET}`);
    assert.ok(files.length <= FILES, `${files.length} files of script, at most ${FILES}`);
  } finally {
    await choir.stop();
  }
});
