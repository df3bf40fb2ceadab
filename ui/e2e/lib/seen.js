// What of a page can be seen and reached.

/**
 * Runs in the page: the controls that cannot be reached, because nothing that a
 * person can scroll brings them into view, or something lies over them.
 */
export function unreachable() {
  const wide = document.documentElement.scrollWidth > innerWidth ? ["the page is wider than the screen"] : [];
  const controls = [
    ...document.querySelectorAll("button, select, textarea, input, a[href], [role=tab], h1, h2"),
  ].filter(
    (e) =>
      e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
      !e.closest(".visually-hidden, .skip, .xterm-helpers, [aria-hidden=true]"),
  );
  const name = (e) => `${e.tagName} ${e.className} ${e.getAttribute("aria-label") ?? e.textContent.slice(0, 40)}`;
  const lost = [];
  for (const control of controls) {
    control.scrollIntoView({ block: "nearest", inline: "nearest" });
    const box = control.getBoundingClientRect();
    // What is seen of it: between the edges of the page and of all that clips it.
    const seen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    let clipped = false;
    for (let up = control; up; up = up.parentElement) {
      const { overflow } = getComputedStyle(up);
      if (up !== control && overflow === "visible") continue;
      const edge = up.getBoundingClientRect();
      seen.left = Math.max(seen.left, edge.left);
      seen.top = Math.max(seen.top, edge.top);
      seen.right = Math.min(seen.right, edge.right);
      seen.bottom = Math.min(seen.bottom, edge.bottom);
      if (up !== control && !/auto|scroll/.test(overflow) && (up.scrollTop !== 0 || up.scrollLeft !== 0))
        clipped = true;
    }
    const [x, y] = [(seen.left + seen.right) / 2, (seen.top + seen.bottom) / 2];
    const small =
      seen.right - seen.left < Math.min(24, box.width - 1) || seen.bottom - seen.top < Math.min(24, box.height - 1);
    const at = document.elementFromPoint(x, y);
    if (clipped || small || !at || !(control.contains(at) || at.contains(control)))
      lost.push(`${name(control)} at ${Math.round(x)},${Math.round(y)}${at ? ` under ${name(at)}` : ""}`);
  }
  return [...wide, ...lost];
}
