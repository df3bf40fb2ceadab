import { outside } from "../domain/link";
import { tellShell } from "../transport/shell";

/** Has links that lead outside shown and opened by the shell: this page may open no window. */
export function followLinks(): void {
  for (const kind of ["click", "auxclick"] as const) addEventListener(kind, follow);
}

function follow(e: MouseEvent): void {
  const link = e.target instanceof Element ? e.target.closest<HTMLAnchorElement>("a[href]") : null;
  const address = link && outside(link.href, location.href);
  if (!address || e.defaultPrevented || e.button > 1) return;
  e.preventDefault();
  tellShell({ kind: "link", address });
}
