import { toast } from "sonner";
import { visible } from "#visible";
import { explain } from "../domain/problem";

/** Says a short answer of the Director. */
export function notifyAnswer(text: string): void {
  toast(visible(text), { duration: 12_000 });
}

/** Says that something went well. */
export function notifyDone(text: string, undo?: { label: string; run(): void }): void {
  toast.success(visible(text), undo ? { action: { label: undo.label, onClick: undo.run }, duration: 12_000 } : {});
}

/** Says what happened and what to do next. */
export function notifyProblem(error: unknown): void {
  const { title, remedy } = explain(error);
  toast.error(visible(title), { ...(remedy ? { description: visible(remedy) } : {}), duration: 10_000 });
}
