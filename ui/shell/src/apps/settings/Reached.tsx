import { Button } from "#base/kit/Button.tsx";
import { bytes } from "../../domain/time";
import { visible } from "../../domain/visible";
import type { Hosts } from "../../transport/hosts";
import { t } from "../../words/late";

/** Writes a host and its port. */
export function placeOf({ host, port }: { host: string; port: number }): string {
  return visible(`${host}:${port}`);
}

const opened = { rule: "hosts.openRule", key: "hosts.openKey", packages: "hosts.openPackages" } as const;

type Choose = (host: string, out: boolean) => void;

/** What the policy lets out without a grant, and what the owner took away from its list. */
export function Rules({ reach, file, choose }: { reach: Hosts; file: string; choose: Choose }) {
  const { rules, away, away_in_file: given } = reach;
  if (rules.length + away.length === 0) return null;
  const first = rules.filter(({ known, host }, at) => known && rules.findIndex((r) => r.host === host) === at);
  return (
    <>
      <details>
        <summary>{t("hosts.rules", { n: rules.length })}</summary>
        {given && <p>{t("hosts.awayInFile", { file })}</p>}
        <ul className="settings-list">
          {rules.map((rule) => (
            <li key={`${placeOf(rule)} ${rule.methods} ${rule.paths}`}>
              <b>{placeOf(rule)}</b>
              {!given && first.includes(rule) && (
                <Button
                  look="quiet"
                  aria-label={`${t("hosts.takeAway")}: ${visible(rule.host)}`}
                  onClick={() => choose(rule.host, false)}
                >
                  {t("hosts.takeAway")}
                </Button>
              )}
              {(rule.methods || rule.paths) && (
                <small>{[...(rule.methods ?? []), ...(rule.paths ?? [])].map(visible).join(" ")}</small>
              )}
              {rule.opened && <small>{t("hosts.opened", { why: t(opened[rule.opened]) })}</small>}
            </li>
          ))}
        </ul>
      </details>
      {away.length > 0 && <Away hosts={away} given={given ?? false} choose={choose} />}
    </>
  );
}

/** The hosts that the owner took away from the list. */
function Away({ hosts, given, choose }: { hosts: string[]; given: boolean; choose: Choose }) {
  return (
    <>
      <h2>{t("hosts.away")}</h2>
      <ul className="settings-list">
        {hosts.map((host) => (
          <li key={host}>
            <b>{visible(host)}</b>
            {!given && (
              <Button aria-label={`${t("hosts.putBack")}: ${visible(host)}`} onClick={() => choose(host, true)}>
                {t("hosts.putBack")}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </>
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
