import { useQueryClient } from "@tanstack/react-query";
import { unawaited } from "#base/kit/unawaited.ts";
import { type ModelRole, roleName, roleSettings } from "../../domain/modelroles";
import type { Settings } from "../../domain/settings";
import { unconnected } from "../../domain/unconnected";
import { useSession } from "../../session/session";
import { t } from "../../words/late";
import { Connect } from "./Connect";
import { InFile } from "./InFile";
import { Services } from "./Services";

/** Which model plays which part, the services they are of, and how to connect one. */
export function Models({ settings }: { settings: Settings }) {
  const session = useSession();
  const queries = useQueryClient();
  const { models, providers } = settings;
  const changed = (next: Settings) => {
    queries.setQueryData(["settings"], next);
    unawaited(session.refresh());
  };
  return (
    <>
      {models.connected ? (
        <dl className="settings-facts">
          {settings.roles.map((role) => (
            <Role key={role.role} role={role} />
          ))}
        </dl>
      ) : (
        <p>{unconnected(models)}</p>
      )}
      {providers.length > 0 && <Services settings={settings} onChanged={changed} />}
      <Connect settings={settings} onConnected={changed} />
      <InFile settings={settings} />
    </>
  );
}

/** The models of a role in their order, with what is set for them. */
function Role({ role }: { role: ModelRole }) {
  const set = roleSettings(role);
  return (
    <>
      <dt>{roleName(role)}</dt>
      <dd>
        {role.models.join(t("models.else"))}
        {set && ` · ${set}`}
      </dd>
    </>
  );
}
