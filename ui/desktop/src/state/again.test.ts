import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { describe, expect, it, vi } from "vitest";
import { readAgain } from "./again";

/** A query whose reads are answered by hand, each with the state at its beginning. */
function watched(queries: QueryClient) {
  let now = "old";
  let givenUp = 0;
  const answers: (() => void)[] = [];
  const queryFn = ({ signal }: { signal: AbortSignal }) => {
    const then = now;
    signal.addEventListener("abort", () => givenUp++);
    return new Promise<string>((done) => answers.push(() => done(then)));
  };
  const observer = new QueryObserver(queries, { queryKey: ["files", "/"], queryFn });
  const stop = observer.subscribe(() => undefined);
  return {
    stop,
    asked: () => answers.length,
    givenUp: () => givenUp,
    shown: () => observer.getCurrentResult().data,
    change: () => {
      now = "new";
    },
    /** Answers read `n`, from 0, once it was asked for. */
    answer: (n: number) => vi.waitFor(() => (answers[n] ?? expect.fail(`read ${n} was not asked for`))()),
  };
}

describe("what may have changed", () => {
  it("is read again when it was shown", async () => {
    const queries = new QueryClient();
    const list = watched(queries);
    await list.answer(0);
    await vi.waitFor(() => expect(list.shown()).toBe("old"));
    list.change();
    const done = readAgain(queries, ["files"]);
    await list.answer(1);
    await done;
    expect(list.shown()).toBe("new");
    list.stop();
  });

  it("is read once more after all that is told while it is read, which is not given up", async () => {
    const queries = new QueryClient();
    const list = watched(queries);
    await list.answer(0);
    await vi.waitFor(() => expect(list.shown()).toBe("old"));
    const told = [readAgain(queries, ["files"])];
    await vi.waitFor(() => expect(list.asked()).toBe(2));
    list.change();
    told.push(readAgain(queries, ["files"]), readAgain(queries, ["files"]));
    await list.answer(1);
    await list.answer(2);
    await Promise.all(told);
    expect([list.shown(), list.asked(), list.givenUp()]).toEqual(["new", 3, 0]);
    list.stop();
  });

  it("is read again when its first answer was under way", async () => {
    const queries = new QueryClient();
    const list = watched(queries);
    list.change();
    const done = readAgain(queries, ["files"]);
    await list.answer(0);
    await list.answer(1);
    await done;
    expect(list.shown()).toBe("new");
    list.stop();
  });
});
