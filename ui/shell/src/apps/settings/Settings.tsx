import { useQuery } from "@tanstack/react-query";
import { BadgeCheck, Gauge, Globe, KeyRound, Sparkles } from "lucide-react";
import { useEffect, useRef } from "react";
import { names } from "#base/domain/names.ts";
import { named } from "#base/domain/words.ts";
import { Button } from "#base/kit/Button.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import type { Section } from "../../domain/route";
import { useSession } from "../../session/session";
import { readSettings } from "../../transport/settings";
import { t } from "../../words/late";
import { Approvals } from "./Approvals";
import { Hosts } from "./Hosts";
import { Limits } from "./Limits";
import { Models } from "./Models";
import { Phrase } from "./Phrase";
import { Secrets } from "./Secrets";
import "./settings.css";

const sections = [
  { id: "models", title: () => named(names.modelList), icon: Sparkles, Body: Models },
  { id: "keys", title: () => named(names.apiKeys), icon: KeyRound, Body: Secrets },
  { id: "limits", title: () => named(names.limits), icon: Gauge, Body: Limits },
  { id: "hosts", title: () => t("hosts.title"), icon: Globe, Body: Hosts },
  { id: "approvals", title: () => t("approvals.title"), icon: BadgeCheck, Body: Approvals },
] as const satisfies readonly { id: Section; title: () => string; icon: unknown; Body: unknown }[];

/** What only the owner decides, out of reach of any agent: models, their keys, limits, and hosts outside. */
export default function Settings({ section }: { section: Section }) {
  const session = useSession();
  // No event says that another tab changed them: they are read again when the person comes back to this one.
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["settings"],
    queryFn: readSettings,
    gcTime: 0,
    refetchOnWindowFocus: "always",
  });
  const shown = sections.find((s) => s.id === section) ?? sections[0];
  const title = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever came to a section by keyboard is in it
  useEffect(() => title.current?.focus(), [section]);
  return (
    <div className="settings scroll">
      <div className="settings-inner">
        <nav className="settings-sections" aria-label={named(names.models)}>
          {sections.map(({ id, title, icon: Icon }) => (
            <a
              key={id}
              href={session.addressOf({ page: "models", section: id })}
              aria-current={id === section ? "page" : undefined}
              onClick={(e) => {
                e.preventDefault();
                session.go({ page: "models", section: id });
              }}
            >
              <Icon size={16} aria-hidden /> {title()}
            </a>
          ))}
        </nav>
        <h1 ref={title} tabIndex={-1}>
          {shown.title()}
        </h1>
        {error && (
          <div className="settings-failed" role="alert">
            <p>{t("models.notRead", { why: error.message })}</p>
            <Button disabled={isFetching} onClick={() => unawaited(refetch())}>
              {t("page.tryAgain")}
            </Button>
          </div>
        )}
        {!data && !error && <p role="status">{t("models.reading")}</p>}
        {data && <Phrase phrase={data.phrase ?? ""} />}
        {data && <shown.Body settings={data} />}
      </div>
    </div>
  );
}
