// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { createElement, useLayoutEffect } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";
import { late } from "./late";

it("a part whose code comes just as it is drawn for the first time is shown", async () => {
  type Code = { default: () => string };
  let come: (code: Code) => void = () => undefined;
  const coming = new Promise<Code>((done) => {
    come = done;
  });
  const Part = late<object>(() => coming);
  const asked = Part.load();
  function Page() {
    // Answers are heard between this and what follows from a drawing.
    useLayoutEffect(() => come({ default: () => "the part" }), []);
    return createElement(Part);
  }
  // As in a browser: within act() no answer comes in between.
  const root = createRoot(document.body.appendChild(document.createElement("div")));
  root.render(createElement(Page));
  await asked;
  expect((await screen.findByText("the part")).textContent).toBe("the part");
  root.unmount();
});
