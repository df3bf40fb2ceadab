import { X } from "lucide-react";
import { Dialog } from "#base/kit/Dialog.tsx";
import { actions } from "../actions/registry";
import { apps } from "../apps/registry";
import { written } from "../domain/chord";
import { deskWords } from "../i18n/desk";
import { useNamed, useWords } from "../i18n/words";
import { isMac } from "../kit/platform";
import { MAX_DESKTOPS } from "../state/look";
import { useStore } from "../state/store";
import "./keys.css";

/** The numbers of the virtual desktops. */
const ALL = `1…${MAX_DESKTOPS}`;

/** Every key there is: those of the desktop, then those of each app. */
export default function Keys() {
  const t = useWords(deskWords);
  const named = useNamed();
  const setPanel = useStore((s) => s.setPanel);
  const close = () => setPanel(undefined);
  // One row stands for all desktops: its last key is any of their numbers.
  const everywhere = actions.flatMap((a) =>
    a.keys && (a.n ?? 1) === 1
      ? { keys: a.n ? a.keys.replace(/1$/, ALL) : a.keys, does: t(a.title, a.n ? { n: ALL } : {}) }
      : [],
  );
  return (
    <Dialog label={t("keys")} className="keys-dialog" onClose={close}>
      <header className="keys-head">
        <h2>{t("keys")}</h2>
        <button
          type="button"
          className="title-button"
          aria-label={t("closeNamed", { title: t("keys") })}
          onClick={close}
        >
          <X size={18} aria-hidden />
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <div className="keys-box scroll" tabIndex={0}>
        <div className="keys-columns">
          <Table title={t("keysOfDesktop")} rows={everywhere} />
          {apps
            .filter((a) => a.keys.length > 0)
            .map((a) => (
              <Table
                key={a.id}
                title={t("keysOf", { app: named(a.title) })}
                rows={a.keys.map((k) => ({ keys: k.keys, does: named(k.does) }))}
              />
            ))}
        </div>
      </div>
    </Dialog>
  );
}

function Table({ title, rows }: { title: string; rows: { keys: string; does: string }[] }) {
  return (
    <section className="keys-table">
      <h3>{title}</h3>
      <dl>
        {rows.map((row) => (
          <div key={row.keys}>
            <dt>
              {written(row.keys, isMac)
                .split(" ")
                .map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
            </dt>
            <dd>{row.does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
