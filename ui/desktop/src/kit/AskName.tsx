import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { Dialog } from "#base/kit/Dialog.tsx";
import "./askname.css";

interface Props {
  title: string;
  value: string;
  ok: string;
  cancel: string;
  /** What is wrong with a name; undefined when it can be. */
  trouble(name: string): string | undefined;
  onName(name: string): void;
  onClose(): void;
}

/** Asks for a name; the part before the ending is chosen already. */
export function AskName({ title, value, ok, cancel, trouble, onName, onClose }: Props) {
  const [name, setName] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const wrong = name === value ? undefined : trouble(name);
  useEffect(() => {
    const dot = value.lastIndexOf(".");
    input.current?.focus();
    input.current?.setSelectionRange(0, dot > 0 ? dot : value.length);
  }, [value]);
  const send = (e: FormEvent) => {
    e.preventDefault();
    if (wrong || trouble(name)) return;
    onClose();
    if (name !== value || !value) onName(name);
  };
  return (
    <Dialog label={title} className="ask-name" onClose={onClose}>
      <form onSubmit={send}>
        <h2>{title}</h2>
        <input
          ref={input}
          className="field"
          aria-label={title}
          aria-invalid={wrong !== undefined}
          value={name}
          onChange={(e) => setName(e.target.value)}
        />
        <p className="ask-name-wrong" role="alert">
          {wrong}
        </p>
        <div className="ask-name-buttons">
          <Button onClick={onClose}>{cancel}</Button>
          <Button look="primary" type="submit" disabled={wrong !== undefined || name.trim() === ""}>
            {ok}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
