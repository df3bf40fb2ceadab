import { ShieldAlert, ShieldCheck } from "lucide-react";
import { names } from "#base/domain/names.ts";
import type { Sandbox } from "#base/domain/views.ts";
import { Popover } from "../../kit/Popover";
import { useStore } from "../../state/store";
import { PagesHeld } from "./PagesHeld";

const roles = { director: "Director", associate: "Associate" };

/** How well agents are shut in; more when asked. */
export function Isolation() {
  const computer = useStore((s) => s.computer);
  if (!computer) return null;
  const missing = computer.isolation.some((s) => s.level.missing?.length);
  const driver = computer.isolation.find((s) => s.level.driver)?.level.driver;
  const Icon = missing || !driver ? ShieldAlert : ShieldCheck;
  return (
    <Popover
      label={names.sandboxed.en}
      className={missing || !driver ? "header-warn" : ""}
      trigger={
        <>
          <Icon size={16} aria-hidden />
          <span className="header-word">
            {driver ? `${names.sandboxed.en}${missing ? ", with gaps" : ""}` : "No sandbox runs"}
          </span>
          <span className="visually-hidden">, show details</span>
        </>
      }
    >
      <h2>Agents work in sandboxes</h2>
      <p>
        Their programs have no network but the model gateway and the bus, nothing of your home folder, and no secrets.
      </p>
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
        {sandboxes.map((s) => roles[s.role]).join(" and ")}
        {!running && <span className="isolation-off">, not running</span>}
      </dt>
      {level.name && <dd>{level.name}</dd>}
      {level.limits && <dd>Limits: {level.limits}</dd>}
      {level.missing?.map((m) => (
        <dd key={m} className="isolation-missing">
          Missing on this machine: {m}
        </dd>
      ))}
    </div>
  );
}
