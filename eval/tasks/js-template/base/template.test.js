import assert from "node:assert/strict";
import { test } from "node:test";

import { render } from "./template.js";

test("fills places", () => {
  assert.equal(render("Hi {{name}}, {{n}} new", { name: "Ada", n: 3 }), "Hi Ada, 3 new");
});
