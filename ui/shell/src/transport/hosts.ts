import { PATIENCE_MS } from "#base/domain/backoff.ts";
import type { ID } from "#base/domain/contracts.ts";
import type { Schema } from "#base/domain/operations.ts";
import { ask } from "#base/transport/http.ts";

/** The hosts that tasks ask for, and the grants. */
export type Hosts = Schema<"EgressView">;

/** A project, and how the pushes of its checkpoints stand. */
export type Project = Schema<"Repo">;

/** A host that tasks ask for. */
export type HostAsked = Hosts["requests"][number];

/** A task that asks for a host. */
export type HostAsker = HostAsked["askers"][number];

/** A grant that holds. */
export type HostGranted = Hosts["grants"][number];

/** Puts a policy for hosts outside in force, for every computer. */
export function choosePolicy(mode: Hosts["mode"]) {
  return ask<"chooseEgress">("/api/egress/mode", { method: "PUT", body: { mode } });
}

/** Takes a host away from the list of git hosts and registries, or puts it back, for every computer. */
export function chooseListed(host: string, out: boolean) {
  return ask<"chooseListed">("/api/egress/listed", { method: "PUT", body: { host, out } });
}

/** What can be answered, for one computer. */
export function hostsOf(computer: ID) {
  const at = `/api/computers/${computer}/egress`;
  const named = ({ host, port }: { host: string; port: number }) => ({ host, port });
  return {
    repos: () => ask<"listRepos">(`/api/computers/${computer}/repos`, { patience: PATIENCE_MS }),
    list: () => ask<"getEgress">(at, { patience: PATIENCE_MS }),
    grant: (asked: HostAsked, scope: "task" | "run" | "always", asker?: HostAsker) =>
      ask<"grantHost">(`${at}/grants`, {
        method: "POST",
        body: {
          ...named(asked),
          scope,
          ...(asker && scope === "task" ? { task: asker.task } : {}),
          ...(asker && scope === "run" ? { run: asker.run } : {}),
        },
      }),
    deny: (asked: HostAsked) => ask<"denyHost">(`${at}/deny`, { method: "POST", body: named(asked) }),
    revoke: (held: HostGranted) =>
      ask<"revokeHost">(`${at}/revoke`, { method: "POST", body: { ...named(held), grant: held.grant } }),
  };
}
