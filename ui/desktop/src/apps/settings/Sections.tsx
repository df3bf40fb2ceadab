import { useId } from "react";
import { Button } from "#base/kit/Button.tsx";
import { actions } from "../../actions/registry";
import { usePerform } from "../../actions/useActions";
import { languages } from "../../domain/language";
import { useWords } from "../../i18n/words";
import { useSession } from "../../session/session";
import { MAX_DESKTOPS } from "../../state/look";
import { useStore } from "../../state/store";
import { tellShell } from "../../transport/shell";
import { words } from "./i18n";

const spoken = { en: "English", de: "Deutsch" };

interface ChoiceProps {
  label: string;
  setting: string;
  options: readonly (readonly [string, string])[];
  /** What is in force when nothing was set. */
  absent?: string;
}

/** One setting with a few values. */
function Choice({ label, setting, options, absent = "" }: ChoiceProps) {
  const { windows } = useSession();
  const value = useStore((s) => s.settings.get(setting) ?? "");
  const id = useId();
  return (
    <div className="settings-row">
      <label htmlFor={id}>{label}</label>
      <select id={id} className="field" value={value || absent} onChange={(e) => windows.set(setting, e.target.value)}>
        {options.map(([to, text]) => (
          <option key={to} value={to}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** How many virtual desktops there are. */
export function Desktops() {
  const t = useWords(words);
  const options = Array.from({ length: MAX_DESKTOPS }, (_, n) => [String(n + 1), String(n + 1)] as const);
  return <Choice label={t("desktopCount")} setting="desktop.count" options={options} absent="4" />;
}

/** Movement, language and direction. */
export function Accessibility() {
  const t = useWords(words);
  return (
    <>
      <Choice
        label={t("motion")}
        setting="motion"
        options={[
          ["", t("motionSystem")],
          ["reduced", t("motionReduced")],
        ]}
      />
      <Choice
        label={t("language")}
        setting="language"
        options={[["", t("languageSystem")], ...languages.map((l) => [l, spoken[l]] as const)]}
      />
      <Choice
        label={t("direction")}
        setting="dir"
        options={[
          ["", t("ltr")],
          ["rtl", t("rtl")],
        ]}
      />
    </>
  );
}

/** Where all keys are listed. */
export function Keys() {
  const t = useWords(words);
  const setPanel = useStore((s) => s.setPanel);
  return (
    <>
      <p>{t("keysMore")}</p>
      <Button onClick={() => setPanel("keys")}>{t("showKeys")}</Button>
    </>
  );
}

/** A checkpoint by hand, and the way back in time. */
export function Checkpoints() {
  const t = useWords(words);
  const perform = usePerform();
  const make = actions.find((a) => a.id === "checkpoint");
  return (
    <>
      <p>{t("checkpointsMore")}</p>
      <div className="settings-buttons">
        <Button look="primary" onClick={() => make && perform(make)}>
          {t("make")}
        </Button>
        <Button onClick={() => tellShell({ kind: "open", page: "timeline" })}>{t("timeline")}</Button>
      </div>
    </>
  );
}

/** What only the shell may change. */
export function Shell() {
  const t = useWords(words);
  return (
    <>
      <p>{t("inShellMore")}</p>
      <div className="settings-buttons">
        <Button onClick={() => tellShell({ kind: "open", page: "models" })}>{t("openModels")}</Button>
        <Button onClick={() => tellShell({ kind: "open", page: "keys" })}>{t("openKeys")}</Button>
        <Button onClick={() => tellShell({ kind: "open", page: "limits" })}>{t("openLimits")}</Button>
        <Button onClick={() => tellShell({ kind: "open", page: "runs" })}>{t("openRuns")}</Button>
      </div>
    </>
  );
}
