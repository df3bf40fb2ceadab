import { expect, test } from "vitest";
import { isDark } from "./palette";
import { safeLink, safeTitle } from "./safe";

test("a title is one short line of what can be read", () => {
  expect(safeTitle("  a\n\u202eb\u0007c  ")).toBe("a b c");
  expect(safeTitle("x".repeat(5000))).toHaveLength(60);
});

test("only links of the web are followed", () => {
  expect(safeLink("https://a.test/x?y")).toBe("https://a.test/x?y");
  for (const bad of ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vscode://x", "x", ""]) {
    expect(safeLink(bad)).toBeUndefined();
  }
});

test("the palette follows the background", () => {
  expect(isDark("rgb(28, 29, 32)")).toBe(true);
  expect(isDark("rgb(255, 255, 255)")).toBe(false);
});
