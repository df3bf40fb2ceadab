import { useQuery } from "@tanstack/react-query";
import { usePhone } from "#base/kit/useWidth.ts";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { useStore } from "../state/store";
import { past } from "../transport/address";
import { api } from "../transport/api";

/** The names of the projects in the workspace. */
export function useProjects(): string[] {
  const { data = [] } = useQuery({ queryKey: ["repos"], queryFn: api.repos, enabled: !past });
  return [...new Set(data.map((r) => r.name))].sort();
}

/** Chooses the project that a prompt is about; not there while there is none. */
export function Project() {
  const t = useWords(deskWords);
  const names = useProjects();
  const repo = useStore((s) => s.repo);
  const setRepo = useStore((s) => s.setRepo);
  const phone = usePhone();
  if (names.length === 0) return null;
  return (
    <select
      className="prompt-project"
      aria-label={t("project")}
      title={t("project")}
      value={repo}
      onChange={(e) => setRepo(e.target.value)}
    >
      <option value="">{t(phone ? "everythingShort" : "everything")}</option>
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
