import { useStore } from "../state/store";
import { t } from "../words/words";

/** The id of the link, where the keyboard is when it comes back from the desktop. */
export const SKIP = "skip";

/** The first stop of the keyboard: past the bar, into the desktop or the content of a page. */
export function Skip() {
  const desktop = useStore((s) => s.route.page === "desktop");
  const giveKeys = useStore((s) => s.giveKeys);
  return (
    <button
      type="button"
      id={SKIP}
      className="skip"
      onClick={() => (desktop ? giveKeys() : document.querySelector<HTMLElement>("main")?.focus())}
    >
      {desktop ? t("page.skipToDesktop") : t("page.skipToContent")}
    </button>
  );
}
