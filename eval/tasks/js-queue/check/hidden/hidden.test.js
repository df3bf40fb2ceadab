import assert from "node:assert/strict";
import { test } from "node:test";

import { Queue } from "../queue.js";

function flaky(failures, seen, name) {
  let n = 0;
  return async () => {
    seen.push(name);
    if (n++ < failures) throw new Error(`${name} ${n}`);
    return name;
  };
}

test("tries again behind the others", async () => {
  const queue = new Queue({ retries: 2 });
  const seen = [];
  const results = await Promise.all([queue.add(flaky(1, seen, "a")), queue.add(flaky(0, seen, "b"))]);
  assert.deepEqual(results, ["a", "b"]);
  assert.deepEqual(seen, ["a", "b", "a"]);
});

test("gives up with the last error", async () => {
  const seen = [];
  await assert.rejects(new Queue({ retries: 2 }).add(flaky(9, seen, "a")), /a 3/);
  assert.equal(seen.length, 3);
  const once = [];
  await assert.rejects(new Queue().add(flaky(9, once, "a")), /a 1/);
  assert.equal(once.length, 1);
});

test("a job that throws at once is tried again too", async () => {
  let n = 0;
  const job = () => {
    if (n++ === 0) throw new Error("early");
    return n;
  };
  assert.equal(await new Queue({ retries: 1 }).add(job), 2);
});

test("drains", async () => {
  const queue = new Queue({ limit: 2, retries: 1 });
  await queue.drain();
  const seen = [];
  queue.add(flaky(9, seen, "bad")).catch(() => seen.push("refused"));
  queue.add(flaky(1, seen, "good"));
  queue.add(() => new Promise((done) => setTimeout(done, 20)).then(() => seen.push("slow")));
  await queue.drain();
  assert.equal(seen.filter((s) => s === "bad").length, 2);
  assert.ok(seen.includes("slow") && seen.includes("good"));
  assert.equal(queue.running, 0);
});
