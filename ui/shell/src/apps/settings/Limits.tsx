import { grouped, nameOf, type Settings } from "../../domain/settings";
import { Where } from "./Where";

/** What bounds runs, sandboxes and the computer. */
export function Limits({ settings }: { settings: Settings }) {
  return (
    <>
      {grouped(settings.limits).map(({ title, limits }) => (
        <table key={title} className="settings-limits">
          <caption>{title}</caption>
          <thead className="visually-hidden">
            <tr>
              <th scope="col">Limit</th>
              <th scope="col">Value</th>
              <th scope="col">Set by</th>
            </tr>
          </thead>
          <tbody>
            {limits.map((limit) => (
              <tr key={limit.key}>
                <th scope="row">
                  {limit.doc} <code>{nameOf(limit)}</code>
                </th>
                <td>{Number(limit.value).toLocaleString("en")}</td>
                <td>{limit.from === "default" ? "default" : "you"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
      <Where settings={settings} what="[limits]" />
    </>
  );
}
