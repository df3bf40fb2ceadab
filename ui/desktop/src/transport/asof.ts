/** The event after which everything is read; 0 for now. */
let moment = 0;

/** From now on everything is read as it was after event `seq`. */
export function lookAt(seq: number): void {
  moment = seq;
}

/** An address that gives what was there at the moment that is looked at. */
export function asOf(address: string): string {
  return moment === 0 ? address : `${address}${address.includes("?") ? "&" : "?"}as_of=${moment}`;
}

/** Of events in order, those up to the moment that is looked at. */
export function upToThen<E extends { seq: number }>(events: readonly E[]): E[] {
  return moment === 0 ? [...events] : events.filter((e) => e.seq <= moment);
}
