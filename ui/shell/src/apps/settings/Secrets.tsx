import { CircleAlert, CircleCheck } from "lucide-react";
import type { Provider, Settings } from "../../domain/settings";
import { whenWords } from "../../domain/time";
import { Sentence } from "../../kit/Sentence";
import { t } from "../../words/late";

/** Where the keys of model services are, and whether they are there. What they are is never shown. */
export function Secrets({ settings }: { settings: Settings }) {
  const keys = settings.providers.filter((p) => p.key.kind !== "none");
  return (
    <>
      <p>{t("models.keysMore")}</p>
      {keys.length === 0 && (
        <p className="settings-none">
          <Sentence of="models.noKeys" holes={{ file: settings.file }} />
        </p>
      )}
      {keys.length > 0 && (
        <ul className="settings-list" aria-label={t("models.keys")}>
          {keys.map((p) => (
            <Secret key={`${p.set} ${p.name}`} provider={p} />
          ))}
        </ul>
      )}
    </>
  );
}

function Secret({ provider: { name, key } }: { provider: Provider }) {
  const Icon = key.present ? CircleCheck : CircleAlert;
  const file = key.kind !== "variable";
  return (
    <li data-missing={!key.present}>
      <b>{t("models.keyOf", { name })}</b>
      <span className="settings-state">
        <Icon size={15} aria-hidden /> {key.present ? t("models.present") : t("models.unusable")}
      </span>
      <small>
        <Sentence
          of={file ? (key.set_at ? "models.theFileWritten" : "models.theFile") : "models.theVariable"}
          holes={{ where: <code>{key.where}</code>, when: key.set_at && whenWords(key.set_at, Date.now()) }}
        />
      </small>
      {key.problem && (
        <p className="settings-problem">
          {key.problem}
          {key.remedy && `: ${key.remedy}`}
        </p>
      )}
      <p>{key.kind === "kept" ? t("models.keptHow") : file ? t("models.fileHow") : t("models.variableHow")}</p>
    </li>
  );
}
