import { spoken } from "#base/domain/language.ts";
import type { Computer, Level, Sandbox } from "#base/domain/views.ts";
import { fill, listed } from "#base/domain/words.ts";
import { isKey, openText, t } from "../../words/late";
import { Asks } from "./Asks";
import { PagesHeld } from "./PagesHeld";

const roles = { director: "sandboxes.director", associate: "sandboxes.associate" } as const;

/** The sandboxes of a computer, what they can reach, and what pages that agents wrote can; with `asked` what they ask to reach. */
export default function Sandboxes({ computer, asked }: { computer: Computer; asked?: true }) {
  if (asked) return <Asks />;
  const mode = computer.egress ?? "none";
  return (
    <>
      <h2>{t("sandboxes.title")}</h2>
      <p>{mode === "none" ? t("sandboxes.closed") : t("sandboxes.hosts", { mode })}</p>
      <dl className="isolation">
        {alike(computer.isolation).map((group) => (
          <Details key={group[0]?.role} sandboxes={group} />
        ))}
        <PagesHeld />
      </dl>
    </>
  );
}

/** Sandboxes that are isolated alike, together. */
function alike(sandboxes: readonly Sandbox[]): Sandbox[][] {
  const groups = new Map<string, Sandbox[]>();
  for (const s of sandboxes) {
    const key = JSON.stringify([s.running, s.level]);
    groups.set(key, [...(groups.get(key) ?? []), s]);
  }
  return [...groups.values()];
}

function Details({ sandboxes }: { sandboxes: Sandbox[] }) {
  const [first] = sandboxes;
  if (!first) return null;
  const { running, level } = first;
  return (
    <div>
      <dt>
        {listed(sandboxes.map((s) => t(roles[s.role])))}
        {!running && <span className="isolation-off">{t("sandboxes.notRunning")}</span>}
      </dt>
      {level.name && <dd>{level.name}</dd>}
      {level.limits && <dd>{t("sandboxes.limits", { limits: level.limits })}</dd>}
      {level.missing?.map((m) => (
        <dd key={m} className="isolation-missing">
          {t("sandboxes.missing", { what: gapSaid(m, level) })}
        </dd>
      ))}
    </div>
  );
}

/** A gap of a level in the language of the page; as the computer says it where the page has no words for it. */
function gapSaid(gap: string, { missing_said: all }: Level): string {
  const said = all?.[gap];
  const key = said?.key.replace(/^told\./, "gaps.") ?? "";
  const values = (said?.values ?? []).map(({ name, text = "", number }) => [name, number ?? text]);
  return isKey(key) ? fill(openText(key), spoken(), Object.fromEntries(values)) : gap;
}
