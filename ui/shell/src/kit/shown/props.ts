import { Fragment } from "react";
import { visible } from "../../domain/visible";

/** The attributes that browsers show or read out as words. */
const words = ["title", "aria-label", "aria-valuetext", "aria-description", "alt", "placeholder", "label"];

const shown = (value: unknown) => (typeof value === "string" ? visible(value) : value);

/** The props of an element with every word of it made visible; a component's are its own affair. */
export function shownProps<T>(type: unknown, props: T): T {
  if (typeof type !== "string" && type !== Fragment) return props;
  const out = { ...(props as Record<string, unknown>) };
  if ("children" in out) out.children = Array.isArray(out.children) ? out.children.map(shown) : shown(out.children);
  for (const name of words) if (name in out) out[name] = shown(out[name]);
  return out as T;
}
