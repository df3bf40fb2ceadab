import assert from "node:assert/strict";
import { test } from "node:test";

import { render } from "../template.js";

test("values are inserted exactly", () => {
  assert.equal(render("Hi {{name}}", { name: "$& $1 $$" }), "Hi $&amp; $1 $$");
});

test("values are escaped, unless asked otherwise", () => {
  assert.equal(render("{{a}}|{{{a}}}", { a: `<b class="x">&'` }), `&lt;b class=&quot;x&quot;&gt;&amp;&#39;|<b class="x">&'`);
});

test("every place is filled, and values are not templates", () => {
  assert.equal(render("{{a}} {{a}} {{b}}", { a: "{{b}}", b: "1" }), "{{b}} {{b}} 1");
});

test("what is missing is an error", () => {
  assert.throws(() => render("{{nobody}}", {}), /nobody/);
  assert.throws(() => render("{{constructor}}", {}), /constructor/);
  assert.throws(() => render("{{{nobody}}}", {}), /nobody/);
});

test("nothing, zero and false", () => {
  assert.equal(render("[{{a}}{{b}}{{c}}{{d}}]", { a: null, b: undefined, c: 0, d: false }), "[0false]");
});
