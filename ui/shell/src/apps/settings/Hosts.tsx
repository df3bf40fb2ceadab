import { useQuery } from "@tanstack/react-query";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import type { Settings } from "../../domain/settings";
import { visible } from "../../domain/visible";
import { useStore } from "../../state/store";
import {
  chooseListed,
  choosePolicy,
  type HostAsked,
  type HostAsker,
  type HostGranted,
  type Hosts as HostsView,
  hostsOf,
} from "../../transport/hosts";
import { t } from "../../words/late";
import { Pushes } from "./Pushes";
import { placeOf, Reached, Rules } from "./Reached";

/** How often the list is read anew while it is shown. */
const LOOK_MS = 2000;

/** Hosts outside that tasks ask for, with the owner's answers, and what is granted. */
export function Hosts({ settings }: { settings: Settings }) {
  const computer = useStore((s) => s.computer);
  const id = computer?.id ?? "";
  const { data, error, refetch } = useQuery({
    queryKey: ["hosts", id],
    queryFn: () => hostsOf(id).list(),
    enabled: id !== "",
    refetchInterval: LOOK_MS,
    gcTime: 0,
  });
  if (error) return <p role="alert">{t("hosts.notRead", { why: error.message })}</p>;
  if (!data) return <p role="status">{t("hosts.reading")}</p>;
  const answer = (asked: Promise<unknown>) => unawaited(asked.catch(notifyProblem).then(() => refetch()));
  return (
    <>
      <Policy mode={data.mode} settings={settings} choose={(mode) => answer(choosePolicy(mode))} />
      <h2>{t("hosts.requests")}</h2>
      {data.requests.length === 0 && <p>{t("hosts.nobody")}</p>}
      <ul className="settings-list">
        {data.requests.map((asked) => (
          <Asked key={placeOf(asked)} asked={asked} computer={id} answer={answer} />
        ))}
      </ul>
      {data.unlisted ? <p>{t("hosts.unlisted", { n: data.unlisted })}</p> : null}
      <h2>{t("hosts.granted")}</h2>
      {data.grants.length === 0 && <p>{t("hosts.nothing")}</p>}
      <ul className="settings-list">
        {data.grants.map((held) => (
          <Granted key={held.grant} held={held} revoke={() => answer(hostsOf(id).revoke(held))} />
        ))}
      </ul>
      <Rules reach={data} file={settings.file} choose={(host, out) => answer(chooseListed(host, out))} />
      <Pushes computer={id} />
      {data.reached.length > 0 && <Reached hosts={data.reached} />}
    </>
  );
}

const policies = [
  ["none", "hosts.closed", "hosts.closedMore"],
  ["allowlist", "hosts.asking", "hosts.askingMore"],
  ["git+pkg", "hosts.packages", "hosts.packagesMore"],
] as const;

/** The policy in force, and the choice of another where choir.toml gives none. */
function Policy({
  mode,
  settings,
  choose,
}: {
  mode: HostsView["mode"];
  settings: Settings;
  choose: (mode: HostsView["mode"]) => void;
}) {
  return (
    <>
      <fieldset className="settings-choice" disabled={settings.egress_in_file}>
        <legend>{t("hosts.reach")}</legend>
        {policies.map(([of, name, more]) => (
          <label key={of}>
            <input type="radio" name="policy" checked={mode === of} onChange={() => choose(of)} />
            <span>
              {t(name)}
              <small>{t(more)}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {settings.egress_in_file && <p>{t("hosts.inFile", { file: settings.file })}</p>}
      <p>{t("hosts.policy")}</p>
    </>
  );
}

type Answer = (asked: Promise<unknown>) => void;

const reasons: Readonly<Record<string, "hosts.taskRefused" | "hosts.ruleRefused">> = {
  task: "hosts.taskRefused",
  rule: "hosts.ruleRefused",
};

/** A host that is asked for: who asks, and the answers for all of them. */
function Asked({ asked, computer, answer }: { asked: HostAsked; computer: string; answer: Answer }) {
  const api = hostsOf(computer);
  const host = placeOf(asked);
  return (
    <li>
      <b>{host}</b>
      <small>{t(reasons[asked.why] ?? "hosts.policyRefused", { mode: asked.policy })}</small>
      {asked.askers.map((asker) => (
        <Asker key={asker.task} asker={asker} asked={asked} computer={computer} answer={answer} />
      ))}
      <span className="settings-answers">
        <Button aria-label={`${t("hosts.always")}: ${host}`} onClick={() => answer(api.grant(asked, "always"))}>
          {t("hosts.always")}
        </Button>
        <Button look="danger" aria-label={`${t("hosts.deny")}: ${host}`} onClick={() => answer(api.deny(asked))}>
          {t("hosts.deny")}
        </Button>
      </span>
    </li>
  );
}

type AskerParts = { asker: HostAsker; asked: HostAsked; computer: string; answer: Answer };

/** A task that asks. Its words are an agent's: they are shown, and nothing more. */
function Asker({ asker, asked, computer, answer }: AskerParts) {
  const api = hostsOf(computer);
  const host = placeOf(asked);
  return (
    <>
      {asker.instruction && <small>{t("hosts.wants", { text: visible(asker.instruction) })}</small>}
      {asker.tool && <small>{t("hosts.did", { tool: visible(asker.tool), text: visible(asker.command ?? "") })}</small>}
      {asker.over && <small>{t("hosts.over")}</small>}
      <span className="settings-answers">
        {!asker.over && (
          <Button aria-label={`${t("hosts.forTask")}: ${host}`} onClick={() => answer(api.grant(asked, "task", asker))}>
            {t("hosts.forTask")}
          </Button>
        )}
        {!asker.run_over && (
          <Button aria-label={`${t("hosts.forRun")}: ${host}`} onClick={() => answer(api.grant(asked, "run", asker))}>
            {t("hosts.forRun")}
          </Button>
        )}
      </span>
    </>
  );
}

const held = { task: "hosts.heldTask", run: "hosts.heldRun", always: "hosts.heldAlways" } as const;

function Granted({ held: grant, revoke }: { held: HostGranted; revoke: () => void }) {
  const host = placeOf(grant);
  return (
    <li>
      <b>{host}</b>
      <Button look="danger" aria-label={`${t("hosts.revoke")}: ${host}`} onClick={revoke}>
        {t("hosts.revoke")}
      </Button>
      <small>{t(held[grant.scope])}</small>
      {grant.expires && <small>{t("hosts.until", { time: new Date(grant.expires).toLocaleString() })}</small>}
    </li>
  );
}
