import type { toast } from "sonner";
import { visible } from "#visible";
import { explain } from "../domain/problem";

type Show = (as: typeof toast) => void;

let place: typeof toast | undefined;
const waiting: Show[] = [];

/** Shows messages with `as` from now on, and those that were said before. */
export function showMessages(as: typeof toast): void {
  place = as;
  for (const show of waiting.splice(0)) show(as);
}

function showOrQueue(show: Show): void {
  if (place) show(place);
  else waiting.push(show);
}

/** The duration of what people need: nothing of that goes away by itself. */
const STAYS = Number.POSITIVE_INFINITY;

/** Says a short answer of the Director, which is kept in its run. */
export function notifyAnswer(text: string): void {
  showOrQueue((toast) => toast(visible(text), { duration: 12_000 }));
}

/** What can be done about what a message says. */
export interface Offer {
  label: string;
  run(): void;
  /** The message takes the place of the one before with this name, which offers the same. */
  id?: string;
}

/** The names of the messages that offer something and were not withdrawn. */
const offered = new Set<string>();

/** Says that something went well; with an offer it stays until it is closed, or withdrawn. */
export function notifyDone(text: string, undo?: Offer): void {
  if (!undo) {
    showOrQueue((toast) => toast.success(visible(text)));
    return;
  }
  const id = undo.id ?? crypto.randomUUID();
  offered.add(id);
  const action = { label: undo.label, onClick: undo.run };
  showOrQueue((toast) => toast.success(visible(text), { action, duration: STAYS, id }));
}

/** Takes away what is offered: the person went on to something else. */
export function withdrawOffers(): void {
  for (const id of offered) showOrQueue((toast) => toast.dismiss(id));
  offered.clear();
}

/** Says what happened and what to do next. */
export function notifyProblem(error: unknown): void {
  const { title, remedy } = explain(error);
  notifyTrouble(title, remedy);
}

/** Says that something went wrong, and what is known of it, until it is closed; the same twice is one message. */
export function notifyTrouble(title: string, more?: string): void {
  const description = more && visible(more);
  showOrQueue((toast) => toast.error(visible(title), { description, duration: STAYS, id: `${title} ${more ?? ""}` }));
}
