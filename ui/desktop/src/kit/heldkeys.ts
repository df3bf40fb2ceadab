import { CONTENT, focusedFrame, on } from "./keyboard";

/** How long a window may take to open before keys go where the keyboard is, in milliseconds. */
const PATIENCE_MS = 3_000;

/**
 * Holds the keys that are pressed while a window opens: in the window that has the focus
 * still, they would go astray. They are typed once the content of another window has the
 * keyboard, or when the returned function is called.
 */
export function holdKeys(): () => void {
  const before = focusedFrame();
  let held = "";
  const press = (e: KeyboardEvent) => {
    const { key } = e;
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
    if (key === "Backspace") held = held.slice(0, -1);
    else if (key === "Enter") held += "\n";
    else if (key.length === 1) held += key;
    else return;
    e.preventDefault();
    e.stopImmediatePropagation();
  };
  const release = on("keydown", press);
  const removers = [
    release,
    on("focusin", ({ target }) => {
      const frame = focusedFrame();
      if (frame && frame !== before && target instanceof Element && frame.contains(target) && target.matches(CONTENT))
        typeHeld();
    }),
    // Who presses elsewhere types there from then on.
    on("pointerdown", release),
  ];
  const typeHeld = () => {
    clearTimeout(timer);
    for (const remove of removers) remove();
    // The one way that input fields, editors and terminals alike take for typing.
    if (held) document.execCommand("insertText", false, held);
    held = "";
  };
  const timer = setTimeout(typeHeld, PATIENCE_MS);
  return typeHeld;
}
