import { expect, it } from "vitest";
import { Refusal } from "#base/domain/problem.ts";
import { untilAnswered } from "./again";

/** Asks what fails so many times, and is over after so many looks. */
function tries(failures: number, overAfter = Number.POSITIVE_INFINITY, failure: unknown = new Error("down")) {
  let asked = 0;
  let looks = 0;
  const ask = async () => {
    asked++;
    if (asked <= failures) throw failure;
    return "state";
  };
  const over = () => looks++ >= overAfter;
  return untilAnswered(ask, over, async () => {}).then((answer) => ({ answer, asked }));
}

it("asks once where that is answered", async () => expect(await tries(0)).toEqual({ answer: "state", asked: 1 }));

it("asks again after a failure", async () => expect(await tries(7)).toEqual({ answer: "state", asked: 8 }));

it("asks no more when it is over, and gives no answer that came too late", async () => {
  expect(await tries(100, 3)).toEqual({ answer: undefined, asked: 3 });
  expect(await tries(0, 1)).toEqual({ answer: undefined, asked: 1 });
});

it("asks no more when nobody is logged in", async () => {
  const ended = new Refusal({ status: 401, code: "unauthenticated", detail: "ended" });
  expect(await tries(100, 100, ended)).toEqual({ answer: undefined, asked: 1 });
});
