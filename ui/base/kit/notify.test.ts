import { toast } from "sonner";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { notifyDone, notifyProblem, notifyTrouble, showMessages, withdrawOffers } from "./notify";

beforeAll(() => {
  notifyTrouble("Said before there was a place for it");
  expect(toast.getToasts()).toHaveLength(0);
  showMessages(toast);
  expect(toast.getToasts()).toHaveLength(1);
});
afterEach(() => {
  toast.dismiss();
});

/** How long what was said stays, in milliseconds. */
const stays = (title: string) => {
  const said = toast.getToasts().find((s) => "title" in s && s.title === title);
  return said && "duration" in said ? said.duration : undefined;
};

it("leaves a failure and an offer where they are until they are closed", () => {
  notifyProblem(new Error("It did not work"));
  expect(stays("It did not work")).toBe(Number.POSITIVE_INFINITY);
  notifyTrouble("It was not uploaded", "The disk is full");
  expect(stays("It was not uploaded")).toBe(Number.POSITIVE_INFINITY);
  notifyDone("Moved", { label: "Undo", run: () => {} });
  expect(stays("Moved")).toBe(Number.POSITIVE_INFINITY);
  notifyDone("Copied");
  expect(stays("Copied")).toBeUndefined();
});

it("says the same failure once, and offers the last of many steps", () => {
  const before = toast.getToasts().length;
  for (let n = 0; n < 3; n++) {
    notifyTrouble("No answer", "Try again");
    notifyDone("Moved", { label: "Undo", run: () => {}, id: "files" });
  }
  expect(toast.getToasts()).toHaveLength(before + 2);
});

it("withdraws what is offered, and leaves failures", () => {
  // The page takes a message away before it draws the next picture.
  vi.stubGlobal("requestAnimationFrame", (draw: () => void) => draw());
  notifyDone("You went back", { label: "Undo", run: () => {} });
  notifyTrouble("It failed");
  withdrawOffers();
  expect([stays("You went back"), stays("It failed")]).toEqual([undefined, Number.POSITIVE_INFINITY]);
});
