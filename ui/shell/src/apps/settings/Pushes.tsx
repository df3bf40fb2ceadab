import { useQuery } from "@tanstack/react-query";
import { visible } from "../../domain/visible";
import { hostsOf, type Project } from "../../transport/hosts";
import { t } from "../../words/late";

/** How often the state is read anew while it is shown. */
const LOOK_MS = 5000;

/** The pushes of each project's checkpoints to the owner's git server; nothing where none are made. */
export function Pushes({ computer }: { computer: string }) {
  const { data } = useQuery({
    queryKey: ["pushes", computer],
    queryFn: () => hostsOf(computer).repos(),
    enabled: computer !== "",
    refetchInterval: LOOK_MS,
    gcTime: 0,
  });
  const pushed = data?.filter(({ push }) => push) ?? [];
  if (pushed.length === 0) return null;
  return (
    <>
      <h2>{t("hosts.pushes")}</h2>
      <ul className="settings-list">
        {pushed.map(({ name, push }) => (
          <li key={name}>
            <b>{visible(name)}</b>
            {push && <State push={push} />}
          </li>
        ))}
      </ul>
    </>
  );
}

/** How the pushes of a project stand, and what to do where they fail. What git said is untrusted. */
function State({ push }: { push: NonNullable<Project["push"]> }) {
  const { state, commit = "", attempts = 0, said = "" } = push;
  return (
    <>
      <small>{t("hosts.pushedTo", { url: visible(push.url) })}</small>
      {state === "nothing" && <small>{t("hosts.pushNothing")}</small>}
      {state === "waiting" && <small>{t("hosts.pushWaits")}</small>}
      {state === "failing" && <small role="alert">{t("hosts.pushFails", { n: attempts, said: visible(said) })}</small>}
      {state === "failing" && <small>{t("hosts.pushHelp")}</small>}
      {commit && <small>{t("hosts.pushHas", { commit: visible(commit.slice(0, 12)) })}</small>}
    </>
  );
}
