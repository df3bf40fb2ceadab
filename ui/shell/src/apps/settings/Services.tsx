import { useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { type Provider, partsOf, type Settings } from "../../domain/settings";
import { disconnectModel } from "../../transport/settings";
import { t } from "../../words/late";

const kinds: Record<string, () => string> = {
  anthropic: () => "Anthropic",
  openai: () => t("models.openaiKind"),
  bedrock: () => "Amazon Bedrock",
};

/** The model services, and what each is used for. Those of the page can be removed. */
export function Services({ settings, onChanged }: { settings: Settings; onChanged(settings: Settings): void }) {
  return (
    <>
      <h2>{t("models.services")}</h2>
      <ul className="settings-list" aria-label={t("models.services")}>
        {settings.providers.map((p) => (
          <li key={`${p.set} ${p.name}`}>
            <b>{p.name}</b>
            <span>{kinds[p.kind]?.() ?? p.kind}</span>
            <small>
              {[
                p.address ?? t("models.ownAddress"),
                p.region,
                partsOf(p) || t("models.notUsed"),
                p.set === "page" ? t("models.connectedHere") : t("models.setIn", { file: settings.file }),
              ]
                .filter(Boolean)
                .join(" · ")}
            </small>
            {p.set === "page" && <Remove provider={p} onChanged={onChanged} />}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Removes a service and its key, after a second press. */
function Remove({ provider, onChanged }: { provider: Provider; onChanged(settings: Settings): void }) {
  const [asked, setAsked] = useState(false);
  const [busy, setBusy] = useState(false);
  const remove = async () => {
    setBusy(true);
    try {
      onChanged(await disconnectModel(provider.name));
    } catch (error) {
      setBusy(false);
      notifyProblem(error);
    }
  };
  if (!asked)
    return (
      <p>
        <Button onClick={() => setAsked(true)} aria-label={t("models.removeNamed", { name: provider.name })}>
          {t("models.remove")}
        </Button>
      </p>
    );
  return (
    <div className="connect-row">
      <Button look="danger" disabled={busy} onClick={() => unawaited(remove())} autoFocus>
        {t("models.removeWithKey", { name: provider.name })}
      </Button>
      <Button disabled={busy} onClick={() => setAsked(false)}>
        {t("models.keepIt")}
      </Button>
      {provider.uses.length > 0 && <small>{t("models.runsStop")}</small>}
    </div>
  );
}
