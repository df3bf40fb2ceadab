/** Keys are named as on a Mac. */
export const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

/** The person wants things to stand still. */
export function stillness(): boolean {
  return (
    matchMedia("(prefers-reduced-motion: reduce)").matches || document.documentElement.dataset.motion === "reduced"
  );
}
