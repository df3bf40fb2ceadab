import type { Extension } from "@codemirror/state";
import { useEffect, useState } from "react";
import { extensionOf } from "../../domain/path";

const javascript = (options = {}) => import("@codemirror/lang-javascript").then((m) => m.javascript(options));

/** The languages by the ending of a file; each is fetched with the first file of it. */
const languages: Record<string, () => Promise<Extension>> = {
  go: () => import("@codemirror/lang-go").then((m) => m.go()),
  js: () => javascript({ jsx: true }),
  jsx: () => javascript({ jsx: true }),
  mjs: () => javascript(),
  ts: () => javascript({ typescript: true }),
  tsx: () => javascript({ typescript: true, jsx: true }),
  json: () => import("@codemirror/lang-json").then((m) => m.json()),
  css: () => import("@codemirror/lang-css").then((m) => m.css()),
  html: () => import("@codemirror/lang-html").then((m) => m.html()),
  md: () => import("@codemirror/lang-markdown").then((m) => m.markdown()),
  py: () => import("@codemirror/lang-python").then((m) => m.python()),
};

/** The language of a file: null for none, and for one that could not be fetched; undefined until that is known. */
export function useLanguage(path: string): Extension | null | undefined {
  const load = languages[extensionOf(path)];
  const [language, setLanguage] = useState<Extension | null | undefined>(load ? undefined : null);
  useEffect(() => {
    let here = true;
    load?.().then(
      (one) => here && setLanguage(one),
      () => here && setLanguage(null),
    );
    return () => {
      here = false;
    };
  }, [load]);
  return language;
}
