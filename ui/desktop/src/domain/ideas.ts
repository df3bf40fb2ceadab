/** Words to try, and the project they are about. */
export interface Idea {
  is: "explain" | "improve" | "summarise" | "page" | "colour" | "clock";
  /** The project or the document it names. */
  name: string;
  repo: string;
}

/** How many ideas are shown. */
const SHOWN = 3;

/** What could be asked for, following from what is there: the projects by name, the documents the newest first. */
export function ideasOf(projects: readonly string[], documents: readonly { title: string }[]): Idea[] {
  const [project] = projects;
  const [document] = documents;
  const own: Idea[] = [
    ...(project ? [{ is: "explain", name: project, repo: project } as const] : []),
    ...(document ? [{ is: "summarise", name: document.title, repo: "" } as const] : []),
    ...(project ? [{ is: "improve", name: project, repo: project } as const] : []),
  ];
  const always = (["page", "clock", "colour"] as const).map((is) => ({ is, name: "", repo: "" }));
  return [...own, ...always].slice(0, SHOWN);
}
