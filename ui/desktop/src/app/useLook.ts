import { useEffect } from "react";
import { isRTL, schemeOf, tokensOf } from "../domain/theme";
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
  useEffect(() => {
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
