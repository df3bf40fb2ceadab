import { expect, it } from "vitest";
import { placeOf } from "./broke";

const origin = "http://c.localhost:8080";

it.each([
  [
    "Chromium",
    [`at Probe (${origin}/src/apps/Probe.tsx?t=17:12:9)`, `at App (${origin}/src/App.tsx:3:1)`],
    "src/apps/Probe.tsx",
    12,
  ],
  [
    "Firefox",
    [`Probe@${origin}/src/Probe.tsx:7:3`, `f@${origin}/node_modules/.vite/deps/x.js?v=1:1:1`],
    "src/Probe.tsx",
    7,
  ],
  ["a package", [`at f (${origin}/node_modules/x/src/f.js:1:1)`, `at g (${origin}/src/g.ts:2:2)`], "src/g.ts", 2],
] as const)("finds the place in a stack of %s", (_, frames, file, line) =>
  expect(placeOf(["TypeError: x", ...frames].join("\n"), origin)).toEqual({ file, line }),
);

it.each(["", "Error: x", "at f (http://other.localhost/src/f.ts:1:1)", `at ${origin}/src/`])(
  "knows none in %o",
  (stack) => expect(placeOf(stack, origin)).toEqual({}),
);
