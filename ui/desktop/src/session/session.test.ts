// @vitest-environment happy-dom
import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Event } from "#base/domain/contracts.ts";
import { event, RUN } from "#base/domain/testing.ts";
import { FakeServer, json, late, refused } from "#base/transport/testing.ts";
import { catalogue } from "../apps/bodies";
import { useStore } from "../state/store";
import { Session } from "./session";

let server: FakeServer;
let session: Session;
let log: Event[];

beforeEach(() => {
  vi.useFakeTimers();
  useStore.setState(useStore.getInitialState(), true);
  log = [];
  server = new FakeServer()
    .on("POST /bus", refused(503, "unavailable", "no bus"))
    .on("GET /events", (request) => json({ events: log, head: log.at(-1)?.seq ?? 1 })(request))
    .on("GET /computers/localhost", refused(503, "unavailable", "not now"));
  session = new Session(new QueryClient(), catalogue);
  session.start({ seq: 1, windows: [], settings: [] });
});
afterEach(() => {
  session.stop();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const happens = async (...events: Event[]) => {
  log = events;
  await vi.advanceTimersByTimeAsync(10_000);
};
const said = () => useStore.getState().announced.map((line) => line.text);
const failure = event(3, "run.finished", { outcome: "failed", answer: "No" }, { run: RUN });

it("keeps what events say and says what becomes of runs, over HTTP where the bus does not open", async () => {
  await happens(
    event(2, "prompt.submitted", { text: "Do it" }, { run: RUN }),
    failure,
    event(4, "setting.changed", { key: "desktop.count", value: "2" }),
  );
  expect(useStore.getState().runs[0]).toMatchObject({ id: RUN, state: "failed" });
  expect(useStore.getState().desktops).toBe(2);
  expect(said().join(" ")).toContain("Do it");
});

it("puts the words of a prompt back when its run fails, also when that is heard before the answer", async () => {
  const slow = late(json({ run: RUN, seq: 2 }, 202));
  server.on("POST /prompts", slow.reply);
  const sent = session.promptTyped("Do it", "key", () => undefined);
  await happens(event(2, "prompt.submitted", { text: "Do it" }, { run: RUN }), failure);
  expect(useStore.getState().words).toBeUndefined();
  slow.answer();
  await sent;
  expect(useStore.getState().words).toEqual({ text: "Do it", repo: "", over: false });
});

it("reads the desktop anew after a rewind until there is an answer", async () => {
  const window = {
    id: "01900000-0000-7000-8000-00000000000c",
    app: "files",
    bounds: { x: 0, y: 0, width: 300, height: 300 },
    state: "normal",
    focused_seq: 1,
  };
  server.on("GET /desktop", refused(503, "unavailable", "not now"));
  await happens(event(2, "timeline.rewound", {} as never));
  expect(useStore.getState().windows).toEqual([]);
  server.on("GET /desktop", json({ seq: 2, windows: [window], settings: [] })).on("GET /runs", json([]));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(useStore.getState().windows).toMatchObject([{ app: "files" }]);
});
