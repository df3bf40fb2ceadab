import type { Settings } from "../../domain/settings";
import { Sentence } from "../../kit/Sentence";
import "../../words/late";

/** Where what is shown is set, and when a change of it counts. */
export function Where({ settings, what }: { settings: Settings; what: string }) {
  return (
    <p className="settings-where">
      <Sentence of={settings.found ? "models.whereSet" : "models.whereToSet"} holes={{ what, file: settings.file }} />
    </p>
  );
}
