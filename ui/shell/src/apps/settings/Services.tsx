import { useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { type Provider, partsOf, type Settings } from "../../domain/settings";
import { disconnectModel } from "../../transport/settings";

const kinds: Record<string, string> = {
  anthropic: "Anthropic",
  openai: "OpenAI or compatible",
  bedrock: "Amazon Bedrock",
};

/** The model services, and what each is used for. Those of the page can be removed. */
export function Services({ settings, onChanged }: { settings: Settings; onChanged(settings: Settings): void }) {
  return (
    <>
      <h2>Model services</h2>
      <ul className="settings-list" aria-label="Model services">
        {settings.providers.map((p) => (
          <li key={`${p.set} ${p.name}`}>
            <b>{p.name}</b>
            <span>{kinds[p.kind] ?? p.kind}</span>
            <small>
              {[
                p.address ?? "the service’s own address",
                p.region,
                partsOf(p) || "not used",
                p.set === "page" ? "connected here" : `set in ${settings.file}`,
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
        <Button onClick={() => setAsked(true)} aria-label={`Remove ${provider.name}`}>
          Remove
        </Button>
      </p>
    );
  return (
    <div className="connect-row">
      <Button look="danger" disabled={busy} onClick={() => unawaited(remove())} autoFocus>
        Remove {provider.name} and its key
      </Button>
      <Button disabled={busy} onClick={() => setAsked(false)}>
        Keep it
      </Button>
      {provider.uses.length > 0 && (
        <small>Runs at work stop at their next call when no other model is connected.</small>
      )}
    </div>
  );
}
