import { Dialog } from "#base/kit/Dialog.tsx";
import { actions } from "../actions/registry";
import { apps } from "../apps/registry";
import { written } from "../domain/chord";
import { deskWords } from "../i18n/desk";
import { useNamed, useWords } from "../i18n/words";
import { isMac } from "../kit/platform";
import { useStore } from "../state/store";
import "./keys.css";

/** Every key there is: those of the desktop, then those of each app. */
export default function Keys() {
  const t = useWords(deskWords);
  const named = useNamed();
  const setPanel = useStore((s) => s.setPanel);
  const everywhere = actions.flatMap((a) =>
    a.keys && (a.n ?? 1) === 1 ? { keys: a.keys, does: t(a.title, a.n ? { n: "1…8" } : {}) } : [],
  );
  return (
    <Dialog label={t("keys")} className="keys-dialog" onClose={() => setPanel(undefined)}>
      <h2>{t("keys")}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <div className="keys-columns scroll" tabIndex={0}>
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
              <kbd>{written(row.keys, isMac)}</kbd>
            </dt>
            <dd>{row.does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
