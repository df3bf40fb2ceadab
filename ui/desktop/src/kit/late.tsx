import { type ComponentType, type ReactNode, useEffect, useState } from "react";

/** A part of the page whose code comes when it is first shown, or is asked for. */
export type Late<P> = ((props: P) => ReactNode) & {
  /** Fetches the code, so that it is there when the part is shown. */
  load(): Promise<void>;
};

/**
 * Makes such a part; until its code is there `waiting` is shown. It does without
 * Suspense, which holds what comes after a fallback back for 300 ms and suspends
 * once even when the code is there. What could not be fetched is thrown where the
 * part stands, and fetched again when it is shown anew.
 */
export function late<P extends object>(
  load: () => Promise<{ default: ComponentType<P> }>,
  waiting: (props: P) => ReactNode = () => null,
): Late<P> {
  let body: ComponentType<P> | undefined;
  let coming: Promise<void> | undefined;
  const fetch = () => {
    coming ??= load().then(
      (module) => {
        body = module.default;
      },
      (error) => {
        coming = undefined;
        throw error;
      },
    );
    return coming;
  };
  function Part(props: P) {
    const [shown, show] = useState<{ Body?: ComponentType<P> | undefined; error?: unknown }>({ Body: body });
    // Code that came since this was drawn is not shown yet.
    const isShown = shown.Body !== undefined;
    useEffect(() => {
      if (isShown) return;
      let here = true;
      fetch().then(
        () => here && show({ Body: body }),
        (error: unknown) => here && show({ error }),
      );
      return () => {
        here = false;
      };
    }, [isShown]);
    if (shown.error) throw shown.error;
    return shown.Body ? <shown.Body {...props} /> : waiting(props);
  }
  return Object.assign(Part, { load: fetch });
}
