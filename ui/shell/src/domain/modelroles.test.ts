import { expect, test } from "vitest";
import { roleName, roleSettings } from "./modelroles";

test("a role has its name and what is set for it", () => {
  expect(roleName({ role: "tool", models: ["a/b"] })).toBe("Programs");
  expect(roleName({ role: "reviewer", models: ["a/b"] })).toBe("reviewer");
  expect(roleSettings({ role: "tool", models: ["a/b"] })).toBe("");
  expect(roleSettings({ role: "tool", models: ["a/b"], effort: "high", temperature: 0 })).toBe(
    "effort high, temperature 0",
  );
});
