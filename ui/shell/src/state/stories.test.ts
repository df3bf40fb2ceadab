import { beforeEach, expect, it } from "vitest";
import { event, RUN, TASK } from "#base/domain/testing.ts";
import { useStore } from "./store";

const prompt = event(1, "prompt.submitted", { text: "Please" }, { run: RUN });
const planned = event(2, "plan.made", { goal: "All", steps: [] }, { run: RUN });

beforeEach(() => useStore.setState(useStore.getInitialState(), true));

it("keeps what happens while a story is being read", () => {
  const { awaitStory, append, setStory } = useStore.getState();
  awaitStory(RUN);
  append([prompt, planned]);
  expect(useStore.getState().stories[RUN]).toBeUndefined();
  setStory(RUN, [prompt]);
  expect(useStore.getState().stories[RUN]).toMatchObject({ seq: 2, prompt: "Please", state: "running" });
  expect(useStore.getState().pending[RUN]).toBeUndefined();
});

it("shows streaming text until the log has it", () => {
  const { hear, append } = useStore.getState();
  hear(RUN, "director", "I th");
  hear(RUN, "director", "ink");
  hear(RUN, "associate", "begun");
  expect(useStore.getState().live[RUN]).toEqual({ director: "I think", associate: "begun" });
  const numbers = { input_tokens: 1, output_tokens: 1, cached_tokens: 0, cost_usd: 0, duration_ms: 1 };
  const returned = { call: TASK, caller: "director" as const, provider: "p", model: "m", ...numbers };
  append([event(3, "model.returned", returned, { run: RUN })]);
  expect(useStore.getState().live[RUN]).toEqual({ director: "", associate: "begun" });
  append([event(4, "run.finished", { outcome: "done", answer: "" }, { run: RUN })]);
  expect(useStore.getState().live[RUN]).toEqual({});
});

it("knows every key the Director had", () => {
  const started = { role: "director" as const, driver: "local", level: "local" };
  const { append } = useStore.getState();
  append([event(1, "sandbox.started", { ...started, public_key: "a" }), event(2, "sandbox.started", started)]);
  append([event(3, "sandbox.started", { ...started, public_key: "b" })]);
  expect(useStore.getState().keys).toEqual(["a", "b"]);
});
