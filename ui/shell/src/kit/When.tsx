import { useSyncExternalStore } from "react";
import { spoken } from "#base/domain/language.ts";
import { ticker } from "#base/kit/ticker.ts";
import { ago } from "../domain/time";

/** How long ago something was; the exact moment on hover. */
export function When({ time }: { time: string }) {
  const read = () => ago(time, ticker.now());
  const said = useSyncExternalStore(ticker.subscribe, read, read);
  return (
    <time dateTime={time} title={new Date(time).toLocaleString(spoken())}>
      {said}
    </time>
  );
}
