/** One line of a unified diff. */
export interface DiffLine {
  kind: "add" | "remove" | "context" | "hunk" | "note";
  text: string;
  /** Line number before and after, where it has one. */
  before?: number;
  after?: number;
}

/** One file of a unified diff. */
export interface DiffFile {
  path: string;
  added: number;
  removed: number;
  lines: DiffLine[];
}

/** Reads a unified diff of any number of files, as git or diff -u writes it. */
export function readDiff(text: string): DiffFile[] {
  const files: DiffFile[] = [];
  let file: DiffFile | undefined;
  let before = 0;
  let after = 0;
  // Inside a hunk "--- x" is a removed line, so the hunk's own counts decide.
  let leftBefore = 0;
  let leftAfter = 0;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) {
    if (file && (leftBefore > 0 || leftAfter > 0) && /^[ +\-\\]|^$/.test(line)) {
      const read = bodyLine(line, before, after);
      file.lines.push(read);
      if (read.kind === "add" || read.kind === "context") {
        after++;
        leftAfter--;
      }
      if (read.kind === "remove" || read.kind === "context") {
        before++;
        leftBefore--;
      }
      if (read.kind === "add") file.added++;
      if (read.kind === "remove") file.removed++;
      continue;
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk && file) {
      before = Number(hunk[1]);
      leftBefore = Number(hunk[2] ?? 1);
      after = Number(hunk[3]);
      leftAfter = Number(hunk[4] ?? 1);
      file.lines.push({ kind: "hunk", text: line });
      continue;
    }
    const started = startOf(line, file);
    if (started) {
      file = started;
      files.push(started);
    } else if (file) {
      noteOn(file, line);
    }
  }
  return files;
}

/** The files of a diff that are the one at `path` below the workspace: a diff of a project names them below the project. */
export function filesAt(files: readonly DiffFile[], path: string): DiffFile[] {
  const exact = files.filter((file) => file.path === path);
  return exact.length > 0 ? exact : files.filter((file) => path.endsWith(`/${file.path}`));
}

function bodyLine(line: string, before: number, after: number): DiffLine {
  const text = line.slice(1);
  switch (line[0]) {
    case "+":
      return { kind: "add", text, after };
    case "-":
      return { kind: "remove", text, before };
    case "\\":
      return { kind: "note", text: line };
    default:
      return { kind: "context", text, before, after };
  }
}

function startOf(line: string, file: DiffFile | undefined): DiffFile | undefined {
  const git = /^diff --git a\/.* b\/(.*)$/.exec(line);
  if (git) return { path: git[1] ?? "", added: 0, removed: 0, lines: [] };
  const plain = /^--- (?:a\/)?(.*?)(?:\t.*)?$/.exec(line);
  // After "diff --git" the same file goes on; without it a new one begins.
  if (plain && (!file || file.lines.some((l) => l.kind === "hunk"))) {
    return { path: plain[1] ?? "", added: 0, removed: 0, lines: [] };
  }
  return undefined;
}

function noteOn(file: DiffFile, line: string): void {
  const to = /^\+\+\+ (?:b\/)?(.*?)(?:\t.*)?$/.exec(line);
  if (to && to[1] !== "/dev/null") file.path = to[1] ?? file.path;
  if (/^(new file|deleted file|rename |Binary |GIT binary|old mode|new mode|\\)/.test(line)) {
    file.lines.push({ kind: "note", text: line });
  }
}
