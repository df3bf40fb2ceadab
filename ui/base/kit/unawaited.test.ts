import { toast } from "sonner";
import { expect, it, vi } from "vitest";
import { showMessages } from "./notify";
import { unawaited } from "./unawaited";

it("tells what work failed with that nobody waits for", async () => {
  showMessages(toast);
  unawaited(Promise.reject(new Error("The disk is full")));
  await vi.waitFor(() =>
    expect(toast.getToasts().map((said) => "title" in said && said.title)).toContain("The disk is full"),
  );
});

it("says nothing of work that is done, or that there is none of", async () => {
  const before = toast.getToasts().length;
  const done = Promise.resolve();
  unawaited(done);
  unawaited(undefined);
  await done;
  expect(toast.getToasts()).toHaveLength(before);
});
