// Where the keyboard is. One rule for all apps: after every action it is in the
// content of the window that has the focus, which each app marks `data-autofocus`;
// a field that a person typed in keeps it. With no window it is nowhere, or at the
// prompt when the person was there: what is typed elsewhere never ends in it.

/** The id of the way out to the shell, where the keyboard is when it comes back the same way. */
export const SKIP = "skip";

const WINDOW = ".window";
export const CONTENT = "[data-autofocus]:not(:disabled)";
const FIELD = "input, textarea, select, [contenteditable=true]";
/** Buttons around a content: pressed by pointer they act, and leave the keyboard where it is. */
const AROUND =
  ":is(.title-bar, .app-tools, [role=toolbar], .app-status, .dock, .tray, .switcher) :is(button, a, [role=tab])";

const isSeen = (element: HTMLElement) => element.isConnected && element.checkVisibility();

/** The field of each window that a person was in, when that is not its content. */
const fields = new WeakMap<Element, HTMLElement>();

const contentOf = (frame: HTMLElement) => [...frame.querySelectorAll<HTMLElement>(CONTENT)].find(isSeen);

/** The window that has the focus on this desktop. */
export const focusedFrame = () =>
  document.querySelector<HTMLElement>(`${WINDOW}[data-focused="true"]:not([hidden])`) ?? undefined;

/** Somebody is in a field that is not in the window of an element; an empty prompt is where nobody has begun. */
export function isTypingBeside(element: Element | null): boolean {
  const at = document.activeElement;
  if (!at?.matches(FIELD) || element?.closest(WINDOW)?.contains(at)) return false;
  return at.id !== "prompt" || (at as HTMLTextAreaElement).value !== "";
}

/** Gives the keyboard to the content of a window; until that is there the window itself has it. */
export function toContent(frame: HTMLElement | undefined = focusedFrame()): void {
  if (!frame) return;
  const to = contentOf(frame) ?? frame;
  if (to !== document.activeElement) to.focus({ preventScroll: true });
}

/** Gives the keyboard back to a window: to the field a person was in, else to its content. */
export function toWindow(frame: HTMLElement): void {
  const field = fields.get(frame);
  if (field && frame.contains(field) && isSeen(field)) field.focus({ preventScroll: true });
  else toContent(frame);
}

/** Nobody has the keyboard, or only the frame of a window. */
function isLost(at: Element | null): boolean {
  return !at || at === document.body || at.matches(WINDOW);
}

/** Something in the window was marked by pointer, to be copied: a focus elsewhere would end that. */
function isMarking(frame: Element): boolean {
  const marked = getSelection();
  return marked !== null && !marked.isCollapsed && frame.contains(marked.anchorNode);
}

/** Holds the rule in the page; gives what ends that. */
export function keepKeyboard(page: HTMLElement): () => void {
  let pressed = false;
  // The keyboard is between two elements; what a page draws meanwhile finds it nowhere.
  let moving = false;
  // The person is at the prompt, or has just come and did nothing else.
  let atPrompt = true;
  const returnFocus = () => {
    const at = document.activeElement;
    if (pressed || moving || !isLost(at) || !document.hasFocus() || document.querySelector("dialog[open]")) return;
    const frame = at?.matches(WINDOW) ? (at as HTMLElement) : focusedFrame();
    if (frame && !isMarking(frame)) toContent(frame);
    else if (!frame && atPrompt) document.getElementById("prompt")?.focus();
  };
  const down = () => {
    pressed = true;
  };
  const up = () => {
    pressed = false;
    // What the press does comes first.
    setTimeout(returnFocus);
  };
  // A pointer that was let go outside of the page is not heard of. WebKit gives a frame of another origin the focus
  // only now, and the key goes to where it belongs.
  const key = () => {
    pressed = false;
    returnFocus();
  };
  const around = (e: MouseEvent) => {
    if (!(e.target instanceof Element) || !e.target.closest(AROUND)) return;
    e.preventDefault();
    const frame = e.target.closest<HTMLElement>(WINDOW);
    const at = document.activeElement;
    // A menu that was left has given the keyboard back to its button.
    if (frame && (!frame.contains(at) || at?.closest(AROUND))) toWindow(frame);
  };
  const went = ({ relatedTarget }: FocusEvent) => {
    if (relatedTarget === null) return;
    moving = true;
    // What it was on the way to may be gone by then.
    setTimeout(() => {
      moving = false;
      returnFocus();
    });
  };
  const came = ({ target }: FocusEvent) => {
    moving = false;
    if (!(target instanceof HTMLElement)) return;
    atPrompt = target.id === "prompt";
    const frame = target.closest(WINDOW);
    if (!frame || target === frame) return returnFocus();
    if (target.matches(FIELD) && !target.matches(CONTENT)) fields.set(frame, target);
    else if (target.matches(CONTENT)) fields.delete(frame);
  };
  const removers = [
    on("pointerdown", down),
    on("pointerup", up),
    on("pointercancel", up),
    on("keydown", key),
    on("mousedown", around),
    on("focusout", went),
    on("focusin", came),
    on("focus", returnFocus),
  ];
  // What had the keyboard is gone or cannot be used any more, or the content of a window is there now.
  const changes = new MutationObserver(returnFocus);
  changes.observe(page, { subtree: true, childList: true, attributeFilter: ["hidden", "disabled", "data-autofocus"] });
  return () => {
    changes.disconnect();
    for (const remove of removers) remove();
  };
}

/** Listens in the whole page, before its elements do. Returns the function that ends that. */
export function on<K extends keyof WindowEventMap>(kind: K, act: (e: WindowEventMap[K]) => void): () => void {
  addEventListener(kind, act, true);
  return () => removeEventListener(kind, act, true);
}
