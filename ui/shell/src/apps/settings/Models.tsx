import { partsOf, type Settings } from "../../domain/settings";
import { ModelNotice } from "../welcome/ModelNotice";
import { Where } from "./Where";

const kinds: Record<string, string> = {
  anthropic: "Anthropic",
  openai: "OpenAI or compatible",
  bedrock: "Amazon Bedrock",
};

/** Which model plays which part, and the services they are of. */
export function Models({ settings }: { settings: Settings }) {
  const { models, providers } = settings;
  return (
    <>
      {models.connected ? (
        <dl className="settings-facts">
          <dt>Director</dt>
          <dd>{models.director}</dd>
          <dt>Associate</dt>
          <dd>{models.associate}</dd>
        </dl>
      ) : (
        <ModelNotice />
      )}
      {providers.length > 0 && (
        <>
          <h2>Model services</h2>
          <ul className="settings-list" aria-label="Model services">
            {providers.map((p) => (
              <li key={p.name}>
                <b>{p.name}</b>
                <span>{kinds[p.kind] ?? p.kind}</span>
                <small>
                  {[p.address ?? "the service’s own address", p.region, partsOf(p, models) || "not used"]
                    .filter(Boolean)
                    .join(" · ")}
                </small>
              </li>
            ))}
          </ul>
        </>
      )}
      <Where settings={settings} what="[models]" />
    </>
  );
}
