import { useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { AppWindow, FileText, History, Zap } from "lucide-react";
import type { ReactNode } from "react";
import { useState } from "react";
import { Dialog } from "#base/kit/Dialog.tsx";
import { actions } from "../actions/registry";
import { hereOf, usePerform } from "../actions/useActions";
import { useSession } from "../app/session";
import { apps } from "../apps/registry";
import { written } from "../domain/chord";
import { deskWords } from "../i18n/desk";
import { useNamed, useWords } from "../i18n/words";
import { isMac } from "../kit/platform";
import { useStore } from "../state/store";
import { api } from "../transport/api";
import { files as fileAPI } from "../transport/files";
import "./launcher.css";

/** Everything by name: apps, windows, files, documents, actions and past runs. */
export default function Launcher() {
  const session = useSession();
  const { windows } = session;
  const perform = usePerform();
  const t = useWords(deskWords);
  const named = useNamed();
  const setPanel = useStore((s) => s.setPanel);
  const runs = useStore((s) => s.runs);
  const open = useStore((s) => s.windows);
  const [typed, setTyped] = useState("");
  const documents = useQuery({ queryKey: ["documents"], queryFn: api.documents });
  const files = useQuery({
    queryKey: ["files", "find", typed],
    enabled: typed.trim().length > 1,
    queryFn: ({ signal }) => fileAPI.find({ name: typed.trim(), limit: 12 }, signal),
    placeholderData: (before) => before,
  });
  const go = (act: () => unknown) => () => {
    setPanel(undefined);
    act();
  };
  const here = hereOf(session);
  return (
    <Dialog label={t("launcher")} className="launcher" onClose={() => setPanel(undefined)}>
      <Command label={t("launcher")} loop>
        <Command.Input data-first value={typed} onValueChange={setTyped} placeholder={t("launcherPlaceholder")} />
        <Command.List label={t("launcher")}>
          <Command.Empty>{t("launcherEmpty")}</Command.Empty>
          <Group heading={t("groupApps")}>
            {apps
              .filter((a) => !a.hidden)
              .map((a) => (
                <Item
                  key={a.id}
                  value={`app ${named(a.title)}`}
                  icon={<a.icon size={17} />}
                  onSelect={go(() => windows.open(a.id))}
                >
                  {named(a.title)}
                </Item>
              ))}
          </Group>
          <Group heading={t("groupWindows")}>
            {open.map((w) => (
              <Item
                key={w.id}
                value={`window ${w.title} ${w.app} ${w.id}`}
                icon={<AppWindow size={17} />}
                onSelect={go(() => windows.focus(w.id))}
              >
                {w.title || w.app}
              </Item>
            ))}
          </Group>
          <Group heading={t("groupDocuments")}>
            {(documents.data ?? []).map((d) => (
              <Item
                key={d.id}
                value={`document ${d.title} ${d.id}`}
                icon={<FileText size={17} />}
                onSelect={go(() => windows.openSubject(`document:${d.id}`, d.title))}
              >
                {d.title}
              </Item>
            ))}
          </Group>
          <Group heading={t("groupFiles")}>
            {(files.data?.found ?? []).map(({ file: f }) => (
              <Item
                key={f.path}
                value={`file ${f.path}`}
                icon={<FileText size={17} />}
                onSelect={go(() => windows.openSubject(f.path))}
              >
                {f.path}
              </Item>
            ))}
          </Group>
          <Group heading={t("groupActions")}>
            {actions
              .filter((a) => a.id !== "launcher" && a.when(here))
              .map((a) => (
                <Item
                  key={a.id}
                  value={`action ${t(a.title, { n: a.n ?? 0 })} ${a.id}`}
                  icon={<Zap size={17} />}
                  keys={a.keys}
                  onSelect={go(() => perform(a))}
                >
                  {t(a.title, { n: a.n ?? 0 })}
                </Item>
              ))}
          </Group>
          <Group heading={t("groupRuns")}>
            {runs.slice(0, 60).map((r) => (
              <Item
                key={r.id}
                value={`run ${r.prompt.slice(0, 200)} ${r.id}`}
                icon={<History size={17} />}
                onSelect={go(() => windows.openSubject(`run:${r.id}`))}
              >
                {r.prompt.slice(0, 120)}
              </Item>
            ))}
          </Group>
        </Command.List>
      </Command>
    </Dialog>
  );
}

/** Some of one kind; without any there is no heading either. */
function Group({ heading, children }: { heading: string; children: ReactNode[] }) {
  return children.length > 0 && <Command.Group heading={heading}>{children}</Command.Group>;
}

interface ItemProps {
  value: string;
  icon: ReactNode;
  keys?: string | undefined;
  onSelect(): void;
  children: ReactNode;
}

function Item({ value, icon, keys, onSelect, children }: ItemProps) {
  return (
    <Command.Item value={value} onSelect={onSelect}>
      {icon}
      <span>{children}</span>
      {keys && <kbd>{written(keys, isMac)}</kbd>}
    </Command.Item>
  );
}
