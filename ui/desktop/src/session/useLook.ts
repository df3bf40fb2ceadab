import { useEffect, useLayoutEffect } from "react";
import { schemeOf } from "#base/domain/scheme.ts";
import { isRTL, tokensOf } from "../domain/theme";
import { useStore } from "../state/store";

/** Draws the page with the theme and settings that are in force. */
export function useLook(): void {
  const theme = useStore((s) => s.theme);
  const settings = useStore((s) => s.settings);
  const language = useStore((s) => s.language);
  useEffect(() => {
    const root = document.documentElement;
    root.lang = language;
    root.dir = isRTL(settings.get("dir") ?? "") ? "rtl" : "ltr";
    root.dataset.motion = settings.get("motion") ?? "";
  }, [settings, language]);
  // Before the effects of the apps, such as a terminal's, which read the values in force.
  useLayoutEffect(() => {
    const { style, dataset } = document.documentElement;
    const tokens = tokensOf(theme);
    for (const [name, value] of tokens) style.setProperty(`--${name}`, value);
    style.colorScheme = schemeOf(theme);
    dataset.theme = theme?.name ?? "system";
    return () => {
      for (const [name] of tokens) style.removeProperty(`--${name}`);
    };
  }, [theme]);
}
