import { expect, it } from "vitest";
import { lastName, namedBy } from "./named";

const found = [
  { path: "workspace/hello/calc.py", kind: "file" },
  { path: "workspace/other/calc.py", kind: "file" },
  { path: "workspace/hello", kind: "dir" },
];

it("finds what is meant by a path", () => {
  const opens = (subject: string) => ({ is: "there", subject });
  expect(namedBy("workspace/hello/calc.py", found)).toEqual(opens("workspace/hello/calc.py"));
  expect(namedBy("hello/calc.py", found)).toEqual(opens("workspace/hello/calc.py"));
  expect(namedBy(" Hello/Calc.py", found)).toEqual(opens("workspace/hello/calc.py"));
  expect(namedBy("./hello/", found)).toEqual(opens("workspace/hello/"));
});

it("opens nothing when it may be several, or is none", () => {
  expect(namedBy("calc.py", found)).toEqual({
    is: "several",
    paths: ["workspace/hello/calc.py", "workspace/other/calc.py"],
  });
  expect(namedBy("alc.py", found)).toEqual({ is: "missing" });
  expect(namedBy("hallo/calc.py", found)).toEqual({ is: "missing" });
  expect(lastName("/workspace/hello/")).toBe("hello");
});
