import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import "./popover.css";

/** A button that shows more beside itself; Escape and a click elsewhere close it. */
export function Popover({
  label,
  trigger,
  className = "",
  children,
}: {
  label: string;
  trigger: ReactNode;
  className?: string;
  /** What is shown; when something in it leads elsewhere it gets what closes this. */
  children: ReactNode | ((close: () => void) => ReactNode);
}) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const back = () => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!open) return;
    const outside = (e: PointerEvent) => !root.current?.contains(e.target as Node) && setOpen(false);
    const close = (e: KeyboardEvent) => {
      if (e.key !== "Escape") return;
      e.stopPropagation();
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("keydown", close, true);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("keydown", close, true);
    };
  }, [open]);
  return (
    <div className="popover" ref={root}>
      <button
        type="button"
        ref={button}
        className={`popover-button ${className}`}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {trigger}
      </button>
      {open && (
        <section id={id} className="popover-body" aria-label={label}>
          {typeof children === "function" ? children(back) : children}
        </section>
      )}
    </div>
  );
}
