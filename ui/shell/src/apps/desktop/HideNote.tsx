import { X } from "lucide-react";
import { Button } from "#base/kit/Button.tsx";
import { useStore } from "../../state/store";
import { t } from "../../words/words";

/** Hides a note above the desktop; what is typed then goes to the desktop again. */
export function HideNote({ onHide }: { onHide(): void }) {
  const giveKeys = useStore((s) => s.giveKeys);
  const hide = () => {
    onHide();
    giveKeys();
  };
  return (
    <Button aria-label={t("desktop.hide")} onClick={hide}>
      <X size={15} aria-hidden />
    </Button>
  );
}
