// What pictures are taken of: the desktop, every app and pages of the shell, at three sizes.
import { openBrowser, PATIENCE_MS } from "./browser.js";
import { startChoir } from "./choir.js";
import { frameOf, goToPage } from "./desktop.js";
import { appNames, arrange, furnish, playDemo, statesOf } from "./states.js";
import { closeAll, desktopAPI, desktopOf, enterDesktop, hoverNote, known, openWindow } from "./windows.js";

export const sizes = [
  { name: "390x844", width: 390, height: 844, touch: true },
  { name: "768x1024", width: 768, height: 1024, touch: true },
  { name: "1440x900", width: 1440, height: 900 },
];

/** Where the window of an app lies on a wide screen. */
const bounds = { x: 170, y: 40, width: 1100, height: 660 };

/** The states that say more of an app than the last in its list does. */
const telling = { terminal: "a shell", timeline: "now", viewer: "a table" };

/** A computer with files, documents and a finished run, and pages of any size that show it. */
export async function openStudio() {
  const choir = await startChoir();
  let run;
  let at;
  const login = async (page) => {
    await page.goto(run ? await choir.link() : choir.login);
    await enterDesktop(page);
    if (run) return;
    await furnish(page);
    run = await playDemo(page);
    // Its card says how long it took, which is never the same.
    await desktopAPI(page, `/runs/${run}/dismiss`, { method: "POST" });
    await desktopOf(page).locator(".cards").waitFor({ state: "detached" });
  };
  const visit = async (size) => {
    await at?.close();
    at = await openBrowser({ stock: true, ...size });
    at.touch = size.touch;
    at.page.setDefaultTimeout(PATIENCE_MS);
    await at.page.emulateMedia({ reducedMotion: "reduce" });
    await at.page.addInitScript(onAnyMachine);
    await login(at.page);
  };
  return {
    /** Gives a page of a size that shows a scene. A browser is opened anew only for fingers or for a pointer. */
    async show(size, scene, dark = false) {
      if (!at || at.touch !== size.touch) await visit(size);
      const { page } = at;
      await page.setViewportSize({ width: size.width, height: size.height });
      await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
      await scene.show(page, run);
      // What lies below the pointer looks different.
      await page.mouse.move(0, 0);
      return page;
    },
    async close() {
      await at?.close();
      await choir.stop();
    },
  };
}

/** Runs in a page before anything else of it: sandboxes are told of as on a machine that has all they want. */
function onAnyMachine() {
  const { json } = Response.prototype;
  Response.prototype.json = async function () {
    const body = await json.call(this);
    for (const { level } of [body].flat().flatMap((computer) => computer?.isolation ?? [])) {
      Object.assign(level, { driver: "local", missing: [] });
    }
    return body;
  };
}

/** The scenes of a size; each can be shown after any other. */
export async function scenes({ touch }) {
  const names = await appNames();
  const ofApps = names.map((name) => ({
    name,
    async show(page, run) {
      await clear(page);
      await arrange(page, name, await mainState(name), run, bounds);
    },
  }));
  return [
    { name: "desktop", show: clear },
    ...ofApps,
    // On a narrow page only the last is seen, as in the picture of its app.
    ...(touch ? [] : [{ name: "windows", show: showWindows }]),
    // Before the pages for which the desktop, with its theme, leaves the document.
    {
      name: "high-contrast",
      async show(page) {
        await clear(page);
        await wear(page, "high-contrast");
      },
    },
    { name: "runs", show: (page) => openPage(page, "Runs", ".welcome h1") },
    { name: "time", show: (page) => openPage(page, "Timeline", ".tree-row") },
  ];
}

/** The state that an app is best known by. */
async function mainState(app) {
  const answering = (await statesOf(app)).filter((s) => s.network === "answers" && s.name !== "empty");
  const there = answering.filter((s) => !s.of);
  return answering.find((s) => s.name === telling[app]) ?? there.at(-1) ?? answering.at(-1);
}

/** Leads to the desktop, with nothing on it. */
async function clear(page) {
  await enterDesktop(page);
  await hideNote(page);
  const [theme] = await Promise.all([
    (await frameOf(page)).locator("html").getAttribute("data-theme"),
    closeAll(page),
    endTerminals(page),
  ]);
  if (theme !== "system") await reload(page);
  // As it is when the desktop opens.
  await desktopOf(page).locator("#prompt").focus();
}

async function endTerminals(page) {
  const { body } = await desktopAPI(page, "/terminals");
  for (const { terminal } of body) await desktopAPI(page, `/terminals/${terminal}`, { method: "DELETE" });
}

/** Draws shell and desktop with another theme, until they are loaded again; the log, which other scenes show, has none of it. */
async function wear(page, name) {
  const body = { ...(await known(page)), theme: { name } };
  const asked = (url) => /^\/api\/computers\/[0-9a-f-]{36}\/desktop$/.test(url.pathname);
  await page.context().route(asked, (route) => route.fulfill({ json: body }));
  await reload(page);
  await desktopOf(page).locator(`html[data-theme="${name}"]`).waitFor();
  await page.waitForFunction(() => document.documentElement.dataset.contrast === "more");
  await page.context().unroute(asked);
  await desktopOf(page).locator("#prompt").focus();
}

/** Loads the shell and the desktop in it again, without the note above it. */
async function reload(page) {
  await page.reload();
  await enterDesktop(page);
  await hideNote(page);
}

/** A note of the shell's takes half of a phone, and is the same in every picture. */
async function hideNote(page) {
  const note = page.getByRole("button", { name: "Hide this" });
  if (!(await note.isVisible())) return;
  await hoverNote(note);
  await note.click();
}

/** Windows above each other. */
async function showWindows(page) {
  await clear(page);
  const table = { x: 60, y: 40, width: 520, height: 320 };
  await openWindow(page, "viewer", "workspace/states/table.csv", table);
  await openWindow(page, "files", "workspace/", { x: 120, y: 330, width: 640, height: 360 });
  const source = { x: 660, y: 90, width: 700, height: 480 };
  const { win } = await openWindow(page, "code", "workspace/states/main.go", source);
  await win.locator(".cm-content").waitFor();
}

/** Leads to a page of the shell's own. */
async function openPage(page, title, shows) {
  if (await page.locator("[data-page=desktop]").isVisible()) await clear(page);
  await goToPage(page, title);
  await page.locator(shows).first().waitFor();
}
