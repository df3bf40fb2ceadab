import assert from "node:assert/strict";
import { test } from "node:test";

import { Queue } from "./queue.js";

test("runs jobs in order", async () => {
  const queue = new Queue();
  const seen = [];
  await Promise.all([1, 2, 3].map((n) => queue.add(async () => seen.push(n))));
  assert.deepEqual(seen, [1, 2, 3]);
});

test("passes errors on", async () => {
  await assert.rejects(new Queue().add(() => Promise.reject(new Error("no"))), /no/);
});
