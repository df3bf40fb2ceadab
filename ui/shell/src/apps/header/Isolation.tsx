import { ShieldAlert, ShieldCheck } from "lucide-react";
import { names } from "#base/domain/names.ts";
import type { Sandbox } from "#base/domain/views.ts";
import { listed, named } from "#base/domain/words.ts";
import { Popover } from "../../kit/Popover";
import { useStore } from "../../state/store";
import { t } from "../../words/words";
import { PagesHeld } from "./PagesHeld";

const roles = { director: "bar.director", associate: "bar.associate" } as const;

/** How well agents are shut in; more when asked. */
export function Isolation() {
  const computer = useStore((s) => s.computer);
  if (!computer) return null;
  const missing = computer.isolation.some((s) => s.level.missing?.length);
  const driver = computer.isolation.find((s) => s.level.driver)?.level.driver;
  const name = named(names.sandboxed);
  const sandboxed = missing ? t("bar.withGaps") : name;
  const Icon = missing || !driver ? ShieldAlert : ShieldCheck;
  return (
    <Popover
      label={named(names.sandboxed)}
      className={missing || !driver ? "header-warn" : ""}
      trigger={
        <>
          <Icon size={16} aria-hidden />
          <span className="header-word">{driver ? sandboxed : t("bar.noSandbox")}</span>
          <span className="visually-hidden">{t("bar.showDetails")}</span>
        </>
      }
    >
      <h2>{t("bar.inSandboxes")}</h2>
      <p>{t("bar.inSandboxesMore")}</p>
      <dl className="isolation">
        {alike(computer.isolation).map((group) => (
          <Details key={group[0]?.role} sandboxes={group} />
        ))}
        <PagesHeld />
      </dl>
    </Popover>
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
        {!running && <span className="isolation-off">{t("bar.notRunning")}</span>}
      </dt>
      {level.name && <dd>{level.name}</dd>}
      {level.limits && <dd>{t("bar.limits", { limits: level.limits })}</dd>}
      {level.missing?.map((m) => (
        <dd key={m} className="isolation-missing">
          {t("bar.missing", { what: m })}
        </dd>
      ))}
    </div>
  );
}
