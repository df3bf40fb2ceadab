// @vitest-environment happy-dom
import { EditorView } from "@codemirror/view";
import { act, cleanup, render } from "@testing-library/react";
import { createElement, useLayoutEffect, useState } from "react";
import { afterEach, expect, it } from "vitest";
import Plain from "./Plain";

afterEach(cleanup);

const view = () => {
  const found = EditorView.findFromDOM(document.querySelector<HTMLElement>(".cm-editor") ?? document.body);
  if (!found) throw new Error("there is no editor");
  return found;
};
const press = (key: string) => view().dispatch({ changes: { from: view().state.doc.length, insert: key } });

/** Keeps what is typed; a second key comes once the first is drawn, before anything else follows from that. */
function Typing() {
  const [text, setText] = useState("");
  useLayoutEffect(() => {
    if (text === "o") press("n");
  }, [text]);
  const plain = createElement(Plain, { text, label: "Text", onText: setText });
  return createElement("main", {}, plain, createElement("output", {}, text));
}

it("a key that comes before the one before it was taken in is not lost", async () => {
  render(createElement(Typing));
  await act(async () => press("o"));
  expect(view().state.doc.toString()).toBe("on");
  expect(document.querySelector("output")?.textContent).toBe("on");
});
