import { useQuery } from "@tanstack/react-query";
import { AppWindow, FileText, History, MessageCircle, OctagonX, Zap } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { names } from "#base/domain/names.ts";
import { isOpen } from "#base/domain/views.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { actions } from "../actions/registry";
import { hereOf, usePerform } from "../actions/useActions";
import { appOf, apps } from "../apps/registry";
import { nameOf } from "../domain/path";
import { ranked } from "../domain/rank";
import { deskWords } from "../i18n/desk";
import { useNamed, useWords } from "../i18n/words";
import { goBackBy } from "../session/goback";
import { openNewDocument } from "../session/newDocument";
import { useSession } from "../session/session";
import { useThemes } from "../session/themes";
import { wear } from "../session/wear";
import { useStore } from "../state/store";
import { api } from "../transport/api";
import { files as fileAPI } from "../transport/files";
import { tellShell } from "../transport/shell";

/** One row of the launcher. */
export interface Entry {
  id: string;
  kind: "kindApp" | "kindAction" | "kindWindow" | "kindFile" | "kindDocument" | "kindRun" | undefined;
  /** What it is found by; the first is shown. */
  texts: readonly string[];
  icon: ReactNode;
  keys?: string | undefined;
  go(): unknown;
}

/** Rows shown at most, without the one that asks. */
const ROWS = 40;
const RUNS = 60;
const FOUND_FILES = 12;
/** Milliseconds that typing rests before the server looks for files. */
const REST_MS = 70;
const TEN_MINUTES_MS = 10 * 60_000;

/** What the launcher finds for what was typed, the best first, then the row that asks; and whether files are still looked for. */
export function useEntries(typed: string): { entries: Entry[]; asks: Entry | undefined; looking: boolean } {
  const t = useWords(deskWords);
  const session = useSession();
  const text = typed.trim();
  const { files, looking } = useFound(text);
  const sources = [
    useAppEntries(),
    useActionEntries(),
    useWindowEntries(),
    useDocumentEntries(),
    files,
    useRunEntries(),
  ];
  // The hooks give the same list until it differs.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the parts are what it depends on
  const entries = useMemo(() => ranked(sources.flat(), text).slice(0, ROWS), [...sources, text]);
  const asks: Entry | undefined = text
    ? {
        id: "ask",
        kind: undefined,
        texts: [t("askRow", { text })],
        icon: <MessageCircle size={17} />,
        go: () => session.promptTyped(text, crypto.randomUUID(), () => {}).catch(notifyProblem),
      }
    : undefined;
  return { entries, asks, looking };
}

function useFound(text: string): { files: Entry[]; looking: boolean } {
  const { windows } = useSession();
  const [rested, setRested] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const { data, isFetching } = useQuery({
    queryKey: ["files", "find", rested],
    enabled: rested.length > 1,
    queryFn: ({ signal }) => fileAPI.find({ name: rested, limit: FOUND_FILES, best: true }, signal),
    placeholderData: (before) => before,
  });
  const files = useMemo(
    () =>
      (data?.found ?? []).map(
        ({ file: { path, kind } }): Entry => ({
          id: `file:${path}`,
          kind: "kindFile",
          texts: [path, nameOf(path)],
          icon: <FileText size={17} />,
          go: () => windows.openSubject(kind === "dir" ? `${path}/` : path),
        }),
      ),
    [data, windows],
  );
  return { files, looking: rested !== text || isFetching };
}

function useAppEntries(): Entry[] {
  const named = useNamed();
  const { windows } = useSession();
  const language = useStore((s) => s.language);
  // biome-ignore lint/correctness/useExhaustiveDependencies: names follow the language
  return useMemo(
    () =>
      apps
        .filter((a) => !a.hidden)
        .map((a) => ({
          id: `app:${a.id}`,
          kind: "kindApp",
          texts: [named(a.title)],
          icon: <a.icon size={17} />,
          go: () => windows.open(a.id),
        })),
    [language, windows],
  );
}

function useActionEntries(): Entry[] {
  const t = useWords(deskWords);
  const named = useNamed();
  const session = useSession();
  const perform = usePerform();
  const { themes } = useThemes();
  const runs = useStore((s) => s.runs);
  const language = useStore((s) => s.language);
  // biome-ignore lint/correctness/useExhaustiveDependencies: names follow the language
  return useMemo(() => {
    const act = (id: string, text: string, go: () => unknown, icon = <Zap size={17} />): Entry => ({
      id: `action:${id}`,
      kind: "kindAction",
      texts: [text],
      icon,
      go,
    });
    const stops = runs.filter((r) => isOpen(r.state)).slice(0, 5);
    return [
      ...stops.map((r) => {
        const text = t("stopNamed", { text: r.prompt.slice(0, 120) });
        return act(`stop.${r.id}`, text, () => api.cancel(r.id).catch(notifyProblem), <OctagonX size={17} />);
      }),
      act("new", t("commandNew"), () => openNewDocument(session.windows)),
      ...themes.map(({ theme }) => act(`theme.${theme.name}`, named(theme.title), () => wear(theme))),
      ...(["models", "runs", "recover"] as const).map((page) =>
        act(page, named(names[page]), () => tellShell({ kind: "open", page })),
      ),
      act("demo", t("showDemo"), () => session.demo.start().catch(notifyProblem)),
      act("back", t("goBackMinutes"), () => goBackBy(TEN_MINUTES_MS).catch(notifyProblem)),
      ...actions
        .filter((a) => a.id !== "launcher" && a.id !== "run.stop" && a.when(hereOf(session)))
        .map((a) => ({ ...act(a.id, t(a.title, { n: a.n ?? 0 }), () => perform(a)), keys: a.keys })),
    ];
  }, [language, themes, runs, session, perform]);
}

function useWindowEntries(): Entry[] {
  const named = useNamed();
  const { windows } = useSession();
  const open = useStore((s) => s.windows);
  const language = useStore((s) => s.language);
  // biome-ignore lint/correctness/useExhaustiveDependencies: names follow the language
  return useMemo(
    () =>
      open.map((w) => {
        const app = appOf(w.app);
        const name = app ? named(app.title) : w.app;
        const texts = w.title ? [w.title, name] : [name];
        const go = () => windows.focus(w.id);
        return { id: `window:${w.id}`, kind: "kindWindow", texts, icon: <AppWindow size={17} />, go };
      }),
    [open, language, windows],
  );
}

function useDocumentEntries(): Entry[] {
  const { windows } = useSession();
  const { data } = useQuery({ queryKey: ["documents"], queryFn: api.documents });
  return useMemo(
    () =>
      (data ?? []).map((d) => ({
        id: `document:${d.id}`,
        kind: "kindDocument",
        texts: [d.title],
        icon: <FileText size={17} />,
        go: () => windows.openSubject(`document:${d.id}`, d.title),
      })),
    [data, windows],
  );
}

function useRunEntries(): Entry[] {
  const { windows } = useSession();
  const runs = useStore((s) => s.runs);
  return useMemo(
    () =>
      runs.slice(0, RUNS).map((r) => ({
        id: `run:${r.id}`,
        kind: "kindRun",
        texts: [r.prompt.slice(0, 200)],
        icon: <History size={17} />,
        go: () => windows.openSubject(`run:${r.id}`),
      })),
    [runs, windows],
  );
}
