import type { Settings } from "../../domain/settings";

/** Where what is shown is set, and when a change of it counts. */
export function Where({ settings, what }: { settings: Settings; what: string }) {
  return (
    <p className="settings-where">
      {settings.found ? "Set in" : "To set it, write"} <code>{what}</code> {settings.found ? "of" : "into"}{" "}
      <code>{settings.file}</code> on the machine where choir runs. It is read when <code>choir up</code> starts; no
      page can change it.
    </p>
  );
}
