import type { Line } from "../domain/spoken";

/** Says each new line, and none of the others again. */
export function LiveRegion({ lines }: { lines: readonly Line[] }) {
  return (
    <div className="visually-hidden" role="status" aria-live="polite" aria-atomic="false" aria-relevant="additions">
      {lines.map(({ n, text }) => (
        <p key={n}>{text}</p>
      ))}
    </div>
  );
}
