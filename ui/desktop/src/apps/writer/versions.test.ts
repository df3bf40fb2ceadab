import { expect, it } from "vitest";
import { say } from "../../i18n/words";
import { words } from "./i18n";
import { versionWords } from "./versions";

it("counts versions once there are several, as people do", () => {
  const said = (version: number, newest: number) =>
    say(words, "en", versionWords(version, newest), { version, newest });
  expect(said(0, 0)).toBe("New");
  expect(said(0, 1)).toBe("As it began");
  expect(said(0, 3)).toBe("As it began");
  expect(said(1, 1)).toBe("First version");
  expect(said(2, 2)).toBe("Version 2 of 2");
  expect(said(1, 2)).toBe("Version 1 of 2");
});
