import { CircleAlert, CircleCheck } from "lucide-react";
import type { Provider, Settings } from "../../domain/settings";
import { whenWords } from "../../domain/time";

/** Where the keys of model services are, and whether they are there. What they are is never shown. */
export function Secrets({ settings }: { settings: Settings }) {
  const keys = settings.providers.filter((p) => p.key.kind !== "none");
  return (
    <>
      <p>
        A key stays in the control plane: it is added to a request after that has left the sandbox. No agent, no desktop
        and no page can read one, this page neither.
      </p>
      {keys.length === 0 && (
        <p className="settings-none">
          No model service here has a key. Connect one under Models, or name it with <code>key_file</code> or{" "}
          <code>key_env</code> in <code>{settings.file}</code>.
        </p>
      )}
      {keys.length > 0 && (
        <ul className="settings-list" aria-label="Keys">
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
      <b>Key of {name}</b>
      <span className="settings-state">
        <Icon size={15} aria-hidden /> {key.present ? "Present" : "Cannot be used"}
      </span>
      <small>
        {file ? "The file " : "The variable "}
        <code>{key.where}</code>
        {file ? (key.set_at ? `, written ${whenWords(key.set_at, Date.now())}` : "") : " of choir up"}
      </small>
      {key.problem && (
        <p className="settings-problem">
          {key.problem}
          {key.remedy && `: ${key.remedy}`}
        </p>
      )}
      <p>
        {key.kind === "kept"
          ? "It was given under Models: connect the service there anew to replace it, or remove the service and its key."
          : file
            ? "To replace it, write another into this file: the next call of a model uses it. To take it away, remove the file."
            : "To replace it or take it away, change the variable and start choir up again."}
      </p>
    </li>
  );
}
