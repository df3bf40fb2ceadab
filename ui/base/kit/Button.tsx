import type { ButtonHTMLAttributes } from "react";
import "./button.css";

/** A button of one of four looks. `look` defaults to plain. */
export function Button({
  look = "plain",
  className = "",
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { look?: "primary" | "plain" | "quiet" | "danger" }) {
  return <button type="button" {...rest} className={`button button-${look} ${className}`} />;
}
