import { expect, it } from "vitest";
import { indentOf } from "./indent";

it("indents as the text does", () => {
  expect(indentOf("def f():\n    a = 1\n    if a:\n        b()\n", "py")).toBe("    ");
  expect(indentOf("def f():\n  a = 1\n", "py")).toBe("  ");
  expect(indentOf("if (a) {\n\tb();\n}\n", "js")).toBe("\t");
  expect(indentOf("/*\n * of\n * it\n */\nif (a) {\n    b();\n}\n", "js")).toBe("    ");
});

it("indents as is usual where the text says nothing", () => {
  expect(indentOf("", "py")).toBe("    ");
  expect(indentOf("a = 1\n", "py")).toBe("    ");
  expect(indentOf("", "go")).toBe("\t");
  expect(indentOf("", "ts")).toBe("  ");
  expect(indentOf("x".repeat(1e6), "txt")).toBe("  ");
});
