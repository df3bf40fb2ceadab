import { spoken } from "#base/domain/language.ts";
import { boundOf, grouped, nameOf, type Settings } from "../../domain/settings";
import { t } from "../../words/late";
import { Where } from "./Where";

/** What bounds runs, sandboxes and the computer. */
export function Limits({ settings }: { settings: Settings }) {
  return (
    <>
      {grouped(settings.limits).map(({ title, limits }) => (
        <table key={title} className="settings-limits">
          <caption>{t(title)}</caption>
          <thead className="visually-hidden">
            <tr>
              <th scope="col">{t("models.limit")}</th>
              <th scope="col">{t("models.value")}</th>
              <th scope="col">{t("models.setBy")}</th>
            </tr>
          </thead>
          <tbody>
            {limits.map((limit) => (
              <tr key={limit.key}>
                <th scope="row">
                  {boundOf(limit)} <code>{nameOf(limit)}</code>
                </th>
                <td>{Number(limit.value).toLocaleString(spoken())}</td>
                <td>{t(limit.from === "default" ? "models.byDefault" : "models.byYou")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
      <Where settings={settings} what="[limits]" />
    </>
  );
}
