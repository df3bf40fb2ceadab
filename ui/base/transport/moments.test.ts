import { expect, it } from "vitest";
import { momentAsks } from "./moments";
import { FakeServer, json } from "./testing";

const entry = (path: string) => ({ path, kind: "dir", mode: 493, size: 0, mtime_ms: 1 });

it("lists a folder of the past without what is git's", async () => {
  const paths = ["p/.git", "p/.github", "p/a.git", "p/src"];
  new FakeServer().on("GET /folder", json(paths.map(entry)));
  const listed = await momentAsks("/api/computers/c").folder(7, "p");
  expect(listed.map((e) => e.path)).toEqual(["p/.github", "p/a.git", "p/src"]);
});
