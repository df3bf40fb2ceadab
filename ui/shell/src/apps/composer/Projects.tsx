import { useQuery } from "@tanstack/react-query";
import { FolderGit2 } from "lucide-react";
import { names } from "#base/domain/names.ts";
import { named } from "#base/domain/words.ts";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";

/** Chooses the project a prompt is about. */
export function Projects() {
  const session = useSession();
  const repo = useStore((s) => s.repo);
  const setRepo = useStore((s) => s.setRepo);
  const { data = [] } = useQuery({ queryKey: ["repos"], queryFn: () => session.api.repos() });
  const projects = [...new Set(data.map((r) => r.name))].sort();
  if (projects.length === 0) return null;
  return (
    <label className="composer-project">
      <FolderGit2 size={14} aria-hidden />
      <span className="visually-hidden">{t("runs.project")}</span>
      <select value={repo} onChange={(e) => setRepo(e.target.value)}>
        <option value="">{named(names.everything)}</option>
        {projects.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}
