import { expect, it } from "vitest";
import { outside } from "./link";

const own = "http://x.localhost:8080/";

it.each([
  ["https://go.dev/doc?x#y", "https://go.dev/doc?x#y"],
  ["//go.dev", "http://go.dev/"],
  ["/api/computers", undefined],
  ["#part", undefined],
  ["blob:http://x.localhost:8080/1", undefined],
  ["javascript:alert(1)", undefined],
  ["mailto:a@b.test", undefined],
  ["http://[", undefined],
])("takes %s for %s", (address, want) => expect(outside(address, own)).toBe(want));
