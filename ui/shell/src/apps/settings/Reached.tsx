import { bytes } from "../../domain/time";
import { visible } from "../../domain/visible";
import type { Hosts } from "../../transport/hosts";
import { t } from "../../words/late";

/** Writes a host and its port. */
export function placeOf({ host, port }: { host: string; port: number }): string {
  return visible(`${host}:${port}`);
}

const opened = { rule: "hosts.openRule", key: "hosts.openKey", packages: "hosts.openPackages" } as const;

/** What the policy lets out without a grant. */
export function Rules({ rules }: { rules: Hosts["rules"] }) {
  return (
    <details>
      <summary>{t("hosts.rules", { n: rules.length })}</summary>
      <ul className="settings-list">
        {rules.map((rule) => (
          <li key={`${placeOf(rule)} ${rule.methods} ${rule.paths}`}>
            <b>{placeOf(rule)}</b>
            {(rule.methods || rule.paths) && (
              <small>{[...(rule.methods ?? []), ...(rule.paths ?? [])].map(visible).join(" ")}</small>
            )}
            {rule.opened && <small>{t("hosts.opened", { why: t(opened[rule.opened]) })}</small>}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** How much went to each host so far. */
export function Reached({ hosts }: { hosts: Hosts["reached"] }) {
  return (
    <>
      <h2>{t("hosts.reached")}</h2>
      <ul className="settings-list">
        {hosts.map((to) => (
          <li key={`${to.host} ${to.port}`}>
            <b>{to.host && to.port ? placeOf({ host: to.host, port: to.port }) : t("hosts.others")}</b>
            <small>
              {t("hosts.amount", {
                n: to.requests,
                sent: bytes(to.sent),
                received: bytes(to.received),
                time: new Date(to.last).toLocaleString(),
              })}
            </small>
          </li>
        ))}
      </ul>
    </>
  );
}
