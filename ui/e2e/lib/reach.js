/** Runs in the page: what is wider than it, and what cannot be pressed even where it is scrolled to. */
export function unreachable() {
  const { scrollWidth } = document.documentElement;
  const wide = scrollWidth > innerWidth ? [`the page is ${scrollWidth} wide`] : [];
  const named = (e) => `${e.className} ${e.getAttribute("aria-label") ?? e.textContent}`.slice(0, 80);
  const open = document.querySelector("dialog:modal");
  const all = [...(open ?? document).querySelectorAll("button, select, textarea, input, a[href], summary")];
  const lost = all.filter((e) => {
    if (e.disabled || e.closest("[inert]") || e.matches(".skip:not(:focus)")) return false;
    if (!e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
    const scrolled = [];
    for (let box = e.parentElement; box; box = box.parentElement) scrolled.push([box, box.scrollTop, box.scrollLeft]);
    e.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    const { left, top, width, height } = e.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    for (const [box, y, x] of scrolled) box.scrollTo({ top: y, left: x, behavior: "instant" });
    return width > 1 && height > 1 && !(hit && (e.contains(hit) || hit.closest("label")?.contains(e)));
  });
  return [...wide, ...lost.map(named)];
}
