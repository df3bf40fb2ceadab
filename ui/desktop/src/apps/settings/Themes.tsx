import { Check } from "lucide-react";
import type { CSSProperties } from "react";
import { explain } from "#base/domain/problem.ts";
import { Button } from "#base/kit/Button.tsx";
import { changeTo, tokensOf } from "../../domain/theme";
import { useNamed, useWords } from "../../i18n/words";
import { type Offered, useThemes } from "../../session/themes";
import { wear } from "../../session/wear";
import { useStore } from "../../state/store";
import { words } from "./i18n";

/** All themes, each drawn in its own values. */
export function Themes() {
  const t = useWords(words);
  const { themes, broken, error, again } = useThemes();
  const current = useStore((s) => s.theme?.name ?? "system");
  return (
    <>
      <p>{t("lookMore", { path: "choiros/themes" })}</p>
      {error != null && (
        <p className="settings-broken" role="alert">
          {t("themesUnread", { why: explain(error).title })} <Button onClick={again}>{t("tryAgain")}</Button>
        </p>
      )}
      <fieldset className="settings-themes">
        <legend className="visually-hidden">{t("theme")}</legend>
        {themes.map((offered) => (
          <Card key={offered.theme.name} offered={offered} chosen={offered.theme.name === current} />
        ))}
      </fieldset>
      {broken.map((path) => (
        <p key={path} className="settings-broken" role="alert">
          {t("broken", { path })}
        </p>
      ))}
    </>
  );
}

function Card({ offered: { theme, own }, chosen }: { offered: Offered; chosen: boolean }) {
  const t = useWords(words);
  const named = useNamed();
  const change = changeTo(theme);
  const values = Object.fromEntries([...tokensOf(change)].map(([name, value]) => [`--${name}`, value]));
  return (
    <button type="button" className="settings-theme" aria-pressed={chosen} onClick={() => wear(theme)}>
      <span className="settings-samples" aria-hidden>
        {/* What follows the system is shown as both. */}
        {theme.scheme.split(" ").map((colorScheme) => (
          <span
            key={colorScheme}
            className="settings-sample tokens-anew"
            style={{ ...values, colorScheme } as CSSProperties}
          >
            <span className="settings-sample-window">
              <i />
              <b />
              <b />
            </span>
          </span>
        ))}
      </span>
      <span className="settings-theme-name">
        {named(theme.title)} {own && <small>{t("own")}</small>}
        {chosen && <Check size={15} aria-hidden />}
      </span>
    </button>
  );
}
