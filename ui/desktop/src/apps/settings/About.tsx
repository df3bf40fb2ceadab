import { useQuery } from "@tanstack/react-query";
import { unawaited } from "#base/kit/unawaited.ts";
import { useWords } from "../../i18n/words";
import { Loading, Trouble } from "../../kit/States";
import { api } from "../../transport/api";
import { words } from "./i18n";

/** The computer, how well it is isolated, and its models. */
export function About() {
  const t = useWords(words);
  const { data, error, refetch } = useQuery({ queryKey: ["computer"], queryFn: api.show });
  if (error) return <Trouble error={error} onAgain={() => unawaited(refetch())} />;
  if (!data) return <Loading />;
  return (
    <dl className="settings-facts">
      <dt>{t("computer")}</dt>
      <dd>
        {data.name} <code>{data.id}</code>
      </dd>
      <dt>{t("models")}</dt>
      <dd>{data.models.message}</dd>
      {data.isolation.map((sandbox) => (
        <div key={sandbox.role} className="settings-sandbox">
          <dt>
            {t("isolation")}: {sandbox.role}
          </dt>
          <dd>
            {sandbox.level.name}
            {sandbox.level.limits && (
              <p>
                {t("limits")}: {sandbox.level.limits}
              </p>
            )}
            {sandbox.level.missing && sandbox.level.missing.length > 0 && (
              <p>
                {t("missing")}: {sandbox.level.missing.join(", ")}
              </p>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
