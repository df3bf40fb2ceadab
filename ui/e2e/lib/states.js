// The states of every app, as each app lists them in its states.ts.
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { frameOf } from "./desktop.js";
import { PATIENCE_MS, untilHolds } from "./limits.js";
import { desktopAPI, openWindow, writeFile } from "./windows.js";

const desktop = new URL("../../desktop/", import.meta.url);
const apps = new URL("src/apps/", desktop);

/** The apps there are, by the folders that have a manifest. */
export async function appNames() {
  const folders = (await readdir(apps, { withFileTypes: true })).filter((e) => e.isDirectory());
  const names = [];
  for (const { name } of folders) {
    if ((await readdir(new URL(`${name}/`, apps))).includes("manifest.ts")) names.push(name);
  }
  return names.sort();
}

/** The apps of the registry, by what it imports. */
export async function registered() {
  const source = await readFile(new URL("registry.ts", apps), "utf8");
  return [...source.matchAll(/from "\.\/([a-z0-9-]+)\/manifest"/g)].map((m) => m[1]).sort();
}

/** The states an app lists. */
export async function statesOf(name) {
  const { transformWithOxc } = await import(new URL("node_modules/vite/dist/node/index.js", desktop));
  const path = fileURLToPath(new URL(`${name}/states.ts`, apps));
  const { code } = await transformWithOxc(await readFile(path, "utf8"), path);
  const { states } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return states;
}

/** Writes what the states show. */
export async function furnish(page) {
  await writeFile(
    page,
    "workspace/states/picture.svg",
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 80"><rect width="120" height="80" fill="#2a5c4f"/><circle cx="60" cy="40" r="26" fill="#e3b667"/></svg>',
  );
  const birds = ["wren,9,brown", "owl,40,grey", "heron,90,blue-grey", "kingfisher,17,blue", "swift,16,black"];
  await writeFile(page, "workspace/states/table.csv", `name,length in cm,colour\n${birds.join("\n")}\n`);
  await writeFile(
    page,
    "workspace/states/value.json",
    '{"name":"wren","eggs":[5,6,7],"nest":{"of":"moss","round":true}}',
  );
  await writeFile(
    page,
    "workspace/states/main.go",
    'package main\n\nimport "fmt"\n\n// main greets whoever starts it.\nfunc main() {\n\tfor i := range 3 {\n\t\tfmt.Println("hello", i)\n\t}\n}\n',
  );
  await writeFile(
    page,
    "workspace/states/notes.md",
    "# Birds of the pond\n\nThe **heron** stands, the *kingfisher* dives.\n\n- wren\n- owl\n",
  );
  await writeDocuments(page);
}

const json = (method, body) => ({
  method,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

/** The documents that states are shown with, by the names that stand for them. */
const titles = { sample: "Birds of the pond", source: "Sources" };

/** Writes documents: one with two versions, a comment and a proposal, and one that only its Markdown shows. */
async function writeDocuments(page) {
  const write = async (title, content) => {
    const { body: doc } = await desktopAPI(page, "/documents", json("POST", { title, content: "" }));
    const { body: saved } = await desktopAPI(
      page,
      `/documents/${doc.id}/versions/${doc.version + 1}`,
      json("PUT", { content }),
    );
    return saved;
  };
  const text =
    "# Birds\n\nThe **heron** stands, the *kingfisher* [dives](https://example.com).\n\n- wren\n- owl\n\n- [x] counted\n- [ ] told\n\n> Quiet, please.\n\n```go\nfunc main() {}\n```\n\n| bird | cm |\n| --- | --- |\n| wren | 9 |\n";
  await write(titles.source, "As was said[^1].\n\n[^1]: By the owl.\n");
  const { id, version } = await write(titles.sample, text);
  const next = `${text}\nNobody saw the swift.\n`;
  await desktopAPI(page, `/documents/${id}/versions/${version + 1}`, json("PUT", { content: next }));
  for (const [kind, exact, said] of [
    ["comment", "heron", "Grey or purple?"],
    ["proposal", "kingfisher", "common kingfisher"],
  ]) {
    const overlay = { version: version + 1, kind, anchor: { exact }, text: said };
    await desktopAPI(page, `/documents/${id}/overlays`, json("POST", overlay));
  }
}

/** What a state never keeps back: the desktop itself, and how it follows the log. */
const always = /\/(desktop|windows|bus|theme|settings)(\/|\?|$)|\/events\?limit=\d+&after=\d+$/;

const matches = (url) => /^[0-9a-f-]{36}\.localhost$/.test(url.hostname) && url.pathname.startsWith("/api/");

/** Puts an app into a state; gives its window. `run` stands for the subject run:latest. */
export async function arrange(page, app, state, run, bounds) {
  await page.context().unroute(matches);
  if (state.network !== "answers") {
    // What was read for another state is not there any more.
    await reloadDesktop(page);
    await page.context().route(matches, (route) => {
      if (always.test(route.request().url())) return route.fallback();
      if (state.network === "hangs") return undefined;
      const problem = {
        status: 503,
        code: "unavailable",
        detail: "the sandbox is not up",
        remedy: "try again in a moment",
      };
      return route.fulfill({ status: 503, contentType: "application/problem+json", body: JSON.stringify(problem) });
    });
  }
  const made = await make(page, state);
  const opened = await openWindow(page, app, made?.subject ?? (await subjectOf(page, state, run)), bounds);
  if (state.removed) {
    await opened.win.locator("[data-autofocus]").first().waitFor();
    await made.remove();
  }
  for (const pressed of state.press ?? []) await opened.win.locator(pressed).first().click();
  await opened.win.locator(state.shows).first().waitFor();
  return opened;
}

/** Makes what a state is about and other states do without: what is going to be removed, or is too large to be shown. */
async function make(page, { subject = "", of, removed }) {
  if (of === "large") {
    if (subject.startsWith("document:"))
      return { subject: (await madeDocument(page, "word ".repeat(120_000))).subject };
    // A string in JSON, of more than is read as text.
    await (await frameOf(page)).evaluate(async (path) => {
      const [computer] = location.host.split(".");
      const body = JSON.stringify("x".repeat(9 << 20));
      await fetch(`/api/computers/${computer}/files/${path}`, { method: "PUT", headers: { "If-Match": "*" }, body });
    }, subject);
  }
  if (!removed) return undefined;
  if (subject.startsWith("document:")) return madeDocument(page, "It is going to be removed.");
  const path = subject.replace(/\/$/, "");
  await writeFile(page, path === subject ? path : `${path}/file.txt`, "{}\n");
  const remove = async () => {
    await desktopAPI(page, "/trash", json("POST", { items: [{ path, if_match: "*" }] }));
    await desktopAPI(page, "/trash", { method: "DELETE" });
  };
  return { subject, remove };
}

async function madeDocument(page, content) {
  const { body } = await desktopAPI(page, "/documents", json("POST", { title: "For a moment", content }));
  return {
    subject: `document:${body.id}`,
    remove: () => desktopAPI(page, `/documents/${body.id}`, { method: "DELETE" }),
  };
}

/** Loads the page of the desktop again; the shell around it stays. */
export async function reloadDesktop(page) {
  const frame = await frameOf(page);
  await frame.evaluate(() => {
    globalThis.stale = true;
    location.reload();
  });
  await frame.waitForFunction(() => !globalThis.stale && document.querySelector("#prompt"));
}

/** What a state's window is opened with: the run and the documents that stand for what the tests made. */
async function subjectOf(page, { subject = "" }, run) {
  const [, name] = /^document:(\w+)$/.exec(subject) ?? [];
  if (!name) return subject.replace("run:latest", `run:${run}`);
  const { body } = await desktopAPI(page, "/documents");
  return `document:${body.find(({ title }) => title === titles[name]).id}`;
}

/** Plays the recorded demo to its end; gives its run. */
export async function playDemo(page) {
  const { run } = await page.evaluate(async () => {
    const [computer] = await (await fetch("/api/computers")).json();
    const headers = { "Content-Type": "application/json" };
    return (await fetch(`/api/computers/${computer.id}/demo`, { method: "POST", headers, body: "{}" })).json();
  });
  const ended = async () =>
    !["planning", "running", "waiting"].includes((await desktopAPI(page, `/runs/${run}`)).body.state);
  await untilHolds(page, ended, "the demo ends", 2 * PATIENCE_MS);
  return run;
}
