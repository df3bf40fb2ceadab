import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import type { Snap, Win } from "../domain/windows";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { toContent } from "../kit/keyboard";
import { useSession } from "../session/session";
import { useStore } from "../state/store";
import "../kit/menu.css";

const snaps = [
  ["left", "snapLeft"],
  ["right", "snapRight"],
  ["top", "snapTop"],
  ["bottom", "snapBottom"],
  ["top_left", "snapTopLeft"],
  ["top_right", "snapTopRight"],
  ["bottom_left", "snapBottomLeft"],
  ["bottom_right", "snapBottomRight"],
] as const satisfies readonly (readonly [Snap, string])[];

/** What a window can do, without dragging anything. */
export default function WindowMenu(props: { win: Win; narrow: boolean; open: boolean; onOpen(open: boolean): void }) {
  const { win, narrow, open, onOpen } = props;
  const { windows } = useSession();
  const setByKeys = useStore((s) => s.setByKeys);
  const desktops = useStore((s) => s.desktops);
  const t = useWords(deskWords);
  const normal = win.state === "normal";
  return (
    <DropdownMenu.Root open={open} onOpenChange={onOpen} modal={false}>
      <DropdownMenu.Trigger asChild>
        <span className="window-anchor" aria-hidden />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal container={document.querySelector<HTMLElement>("main.desk")}>
        <DropdownMenu.Content
          className="menu"
          align="start"
          sideOffset={4}
          aria-label={t("window")}
          onCloseAutoFocus={(e) => {
            e.preventDefault();
            // What moves the window by arrow keys has the keyboard then.
            if (!useStore.getState().byKeys) toContent();
          }}
        >
          {!narrow && (
            <>
              <Item onSelect={() => (normal ? windows.maximise(win.id) : windows.restore(win.id))}>
                {t(normal ? "maximise" : "restore")}
              </Item>
              {normal && <Item onSelect={() => setByKeys({ window: win.id, how: "move" })}>{t("moveByKeys")}</Item>}
              {normal && <Item onSelect={() => setByKeys({ window: win.id, how: "resize" })}>{t("resizeByKeys")}</Item>}
              <Sub label={t("snapTo")}>
                {snaps.map(([to, word]) => (
                  <Item key={to} onSelect={() => windows.snap(win.id, to)}>
                    {t(word)}
                  </Item>
                ))}
              </Sub>
            </>
          )}
          {Array.from({ length: desktops }, (_, n) => n)
            .filter((n) => n !== (win.desktop ?? 0))
            .map((n) => (
              <Item key={n} onSelect={() => windows.toDesktop(win.id, n)}>
                {t("toDesktop", { n: n + 1 })}
              </Item>
            ))}
          <DropdownMenu.Separator className="menu-line" />
          <Item onSelect={() => windows.minimise(win.id)}>{t("minimise")}</Item>
          <Item onSelect={() => windows.close(win.id)}>{t("close")}</Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Item({ onSelect, children }: { onSelect(): void; children: ReactNode }) {
  return (
    <DropdownMenu.Item className="menu-item" onSelect={onSelect}>
      {children}
    </DropdownMenu.Item>
  );
}

function Sub({ label, children }: { label: string; children: ReactNode }) {
  return (
    <DropdownMenu.Sub>
      <DropdownMenu.SubTrigger className="menu-item menu-sub">{label}</DropdownMenu.SubTrigger>
      <DropdownMenu.Portal container={document.querySelector<HTMLElement>("main.desk")}>
        <DropdownMenu.SubContent className="menu" aria-label={label}>
          {children}
        </DropdownMenu.SubContent>
      </DropdownMenu.Portal>
    </DropdownMenu.Sub>
  );
}
