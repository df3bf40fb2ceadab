import { ContextMenu, DropdownMenu } from "radix-ui";
import { Fragment, type ReactNode, useRef } from "react";
import { written } from "../domain/chord";
import { toContent } from "./keyboard";
import { isMac } from "./platform";
import "./menu.css";

/** One entry of a menu; several below one when it has `items`. */
export interface Entry {
  id: string;
  label: string;
  keys?: string;
  disabled?: boolean;
  danger?: boolean;
  /** A line stands above it. */
  apart?: boolean;
  run?(): void;
  items?: Entry[];
}

/** A button that opens a menu; entries that are a function are asked for as it opens. */
export function MenuButton({ entries, children }: { entries: Entry[] | (() => Entry[]); children: ReactNode }) {
  const back = useKeyboardBack();
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={desk()}>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4} onCloseAutoFocus={back.closed}>
          <Entries entries={entries} parts={DropdownMenu} onRun={back.ran} />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** What a right click or the menu key opens. */
export function MenuArea({ entries, children }: { entries: Entry[]; children: ReactNode }) {
  const back = useKeyboardBack();
  return (
    <ContextMenu.Root modal={false}>
      <ContextMenu.Trigger asChild>{children}</ContextMenu.Trigger>
      <ContextMenu.Portal container={desk()}>
        <ContextMenu.Content className="menu" onCloseAutoFocus={back.closed}>
          <Entries entries={entries} parts={ContextMenu} onRun={back.ran} />
        </ContextMenu.Content>
      </ContextMenu.Portal>
    </ContextMenu.Root>
  );
}

/** After an entry was chosen the keyboard is in the content; a menu that is left gives it back to its button. */
export function useKeyboardBack(): { ran(): void; closed(e: Event): void } {
  const ran = useRef(false);
  return {
    ran: () => {
      ran.current = true;
    },
    closed: (e) => {
      if (!ran.current) return;
      ran.current = false;
      e.preventDefault();
      toContent();
    },
  };
}

/** Menus lie in the desk, which is the page's landmark. */
const desk = () => document.querySelector<HTMLElement>("main.desk");

type Parts = Pick<typeof DropdownMenu, "Item" | "Sub" | "SubTrigger" | "SubContent" | "Portal" | "Separator">;

type EntriesProps = { entries: Entry[] | (() => Entry[]); parts: Parts | typeof ContextMenu; onRun(): void };

function Entries({ entries, parts, onRun }: EntriesProps) {
  // The parts of both menus take the same properties.
  const { Item, Sub, SubTrigger, SubContent, Portal, Separator } = parts as Parts;
  return (typeof entries === "function" ? entries() : entries).map((e) => (
    <Fragment key={e.id}>
      {e.apart && <Separator className="menu-line" />}
      {e.items ? (
        <Sub>
          <SubTrigger className="menu-item menu-sub" disabled={e.items.length === 0}>
            {e.label}
          </SubTrigger>
          <Portal container={desk()}>
            <SubContent className="menu">
              <Entries entries={e.items} parts={parts} onRun={onRun} />
            </SubContent>
          </Portal>
        </Sub>
      ) : (
        <Item
          className="menu-item"
          data-danger={e.danger}
          disabled={e.disabled ?? false}
          onSelect={() => {
            onRun();
            e.run?.();
          }}
        >
          <span>{e.label}</span>
          {e.keys && <kbd>{written(e.keys, isMac)}</kbd>}
        </Item>
      )}
    </Fragment>
  ));
}
