import { useSyncExternalStore } from "react";
import { ago } from "../domain/time";

const EVERY_MS = 15_000;

function subscribe(changed: () => void): () => void {
  const timer = setInterval(changed, EVERY_MS);
  return () => clearInterval(timer);
}

const tick = () => Math.floor(Date.now() / EVERY_MS) * EVERY_MS;

/** How long ago something was; the exact moment on hover. */
export function When({ time }: { time: string }) {
  useSyncExternalStore(subscribe, tick, tick);
  return (
    <time dateTime={time} title={new Date(time).toLocaleString()}>
      {ago(time, Date.now())}
    </time>
  );
}
