import { describe, expect, it } from "vitest";
import { filesAt, readDiff } from "./diff";

const git = `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@ head
 one
--- two
+-- zwei
 three
diff --git a/new b/new
new file mode 100755
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+made
\\ No newline at end of file
`;

describe("readDiff", () => {
  it("reads several files of git", () => {
    expect(readDiff(git).map((f) => [f.path, f.added, f.removed])).toEqual([
      ["a.txt", 1, 1],
      ["new", 1, 0],
    ]);
  });
  it("takes a removed line that looks like a header for what it is", () => {
    const [file] = readDiff(git);
    expect(file?.lines.find((l) => l.kind === "remove")).toEqual({ kind: "remove", text: "-- two", before: 2 });
  });
  it("counts lines on both sides", () => {
    const context = readDiff(git)[0]?.lines.filter((l) => l.kind === "context");
    expect(context?.map((l) => [l.before, l.after])).toEqual([
      [1, 1],
      [3, 3],
    ]);
  });
  it("reads a plain unified diff of two files", () => {
    const plain = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n";
    expect(readDiff(plain).map((f) => [f.path, f.added, f.removed])).toEqual([
      ["x", 1, 1],
      ["y", 1, 1],
    ]);
  });
  it("is empty for words that are no diff", () => expect(readDiff("hello\n")).toEqual([]));
});

it("finds a file by its path below the workspace, which a project's diff leaves out", () => {
  const files = readDiff(
    "diff --git a/README.md b/README.md\n@@ -0,0 +1 @@\n+x\ndiff --git a/bin/a b/bin/a\n@@ -0,0 +1 @@\n+y\n",
  );
  const at = (path: string) => filesAt(files, path).map((f) => f.path);
  expect(at("workspace/tally/bin/a")).toEqual(["bin/a"]);
  expect(at("README.md")).toEqual(["README.md"]);
  expect(at("workspace/tally/sbin/a")).toEqual([]);
});
