import { expect, it } from "vitest";
import { beginRun, closePrompt, endRun, noPrompts, sendPrompt } from "./prompted";

const words = { text: "Do it", repo: "" };

it("gives the words of a run back when it fails, once", () => {
  const begun = beginRun(sendPrompt(noPrompts), "run", words).prompts;
  const ended = endRun(closePrompt(begun), "run", true);
  expect(ended.back).toEqual(words);
  expect(endRun(ended.prompts, "run", true).back).toBeUndefined();
});

it("gives nothing back of a run that was done", () => {
  const { prompts } = beginRun(sendPrompt(noPrompts), "run", words);
  const ended = endRun(closePrompt(prompts), "run", false);
  expect(ended).toEqual({ prompts: noPrompts });
});

it("gives the words back when the failure is heard before the answer that names the run", () => {
  const failed = endRun(sendPrompt(noPrompts), "run", true);
  expect(failed.back).toBeUndefined();
  const begun = beginRun(failed.prompts, "run", words);
  expect(begun.back).toEqual(words);
  expect(closePrompt(begun.prompts)).toEqual(noPrompts);
});

it("keeps no failures of other runs once no prompt is on its way", () => {
  const one = endRun(sendPrompt(sendPrompt(noPrompts)), "other", true).prompts;
  const two = closePrompt(one);
  expect(two.failed.has("other")).toBe(true);
  expect(closePrompt(two)).toEqual(noPrompts);
  expect(endRun(noPrompts, "other", true).prompts).toEqual(noPrompts);
});
