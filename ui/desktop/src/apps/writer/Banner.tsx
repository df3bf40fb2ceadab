import type { ReactNode } from "react";

/** A sentence over the text that waits for a decision, or says how the text is shown. */
export function Banner({
  look,
  children,
  buttons,
}: {
  look: "offer" | "warn" | "plain";
  children: ReactNode;
  buttons?: ReactNode;
}) {
  return (
    <div className={`writer-banner writer-banner-${look}`} role={look === "plain" ? "note" : "alert"}>
      <p>{children}</p>
      {buttons}
    </div>
  );
}
