// The same desktop in a stock Firefox and a stock WebKitGTK, and in browsers that block cookies.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { noBrowser, openBrowser, PATIENCE_MS } from "../lib/browser.js";
import { binary, startChoir } from "../lib/choir.js";
import { desktopOf, frameOf } from "../lib/desktop.js";
import { noFirefox, openFirefox } from "../lib/firefox.js";
import { startModel } from "../lib/model.js";
import { sessions } from "../lib/session.js";
import { noWebKit, openWebKit } from "../lib/webkit.js";

const unbuilt = existsSync(binary) ? false : `${binary} is not built: make build`;
const shots = join(tmpdir(), "choir-screenshots");

/** The tests in one browser; where there is none they are one that is skipped. */
function inBrowser(name, skip, tests) {
  if (unbuilt || skip) test(name, { skip: unbuilt || skip }, () => {});
  else describe(name, tests);
}

/** Starts a choir with a model, and a browser, for the tests of one describe. */
function rig(open) {
  const it = {};
  before(async () => {
    await mkdir(shots, { recursive: true });
    it.model = await startModel();
    it.choir = await startChoir(it.model.config);
    it.browser = await open();
  });
  after(async () => {
    // Whatever started is ended, whatever failed.
    const ends = [() => it.browser?.close(), () => it.choir?.stop(), () => it.model?.stop()];
    for (const end of ends) await end();
  });
  return it;
}

/** What a person does first, in a browser whose shell is open. */
function works(it, name) {
  test("the desktop is in a frame of its own origin, and its prompt takes keys", async () => {
    const { browser, choir } = it;
    await browser.untilDesktop(() => document.querySelector("#prompt") && document.hasFocus());
    const origin = await browser.inDesktop(() => location.origin);
    assert.match(origin, /^http:\/\/[0-9a-f-]{36}\.localhost:\d+$/);
    assert.notEqual(origin, choir.address);
    await browser.untilShell(() => document.activeElement?.tagName === "IFRAME");
    await browser.type("hello there");
    await browser.untilDesktop(() => document.querySelector("#prompt").value === "hello there");
  });

  test("a greeting is answered", async () => {
    const { browser } = it;
    await browser.press("Enter");
    await browser.untilDesktop(() =>
      [...document.querySelectorAll(".card-answer")].some((t) => t.textContent.includes("What shall we do?")),
    );
  });

  test("a document is begun and written by keyboard, and its window moved", async () => {
    const { browser } = it;
    await browser.press("Control+k");
    await browser.untilDesktop(() => document.activeElement?.matches("[role=combobox]"));
    await browser.type("writer");
    await browser.untilDesktop(() =>
      document.querySelector('[role="option"][aria-selected="true"]')?.textContent.startsWith("Writer"),
    );
    await browser.press("Enter");
    await browser.untilDesktop(() => {
      const begin = document.querySelector('[data-app="writer"][data-focused="true"] .window-body button');
      begin?.focus();
      return begin !== null && document.activeElement === begin;
    });
    await browser.press("Enter");
    await browser.untilDesktop(() => {
      const text = document.querySelector(".writer-text");
      text?.focus();
      return text !== null && document.activeElement === text;
    });
    await browser.type("Notes from the pond.");
    await browser.untilDesktop(() => document.body.innerText.includes("First version"));
    await browser.press("Control+Alt+ArrowLeft");
    await browser.untilDesktop(isLeft);
    await browser.shoot(join(shots, `${name}-writer.png`));
  });

  test("a reload keeps the session, the window where it is, and what was written", async () => {
    const { browser } = it;
    await browser.reload();
    await browser.untilDesktop(isLeft);
    await browser.untilDesktop(() =>
      document.querySelector(".writer-text")?.textContent.includes("Notes from the pond."),
    );
  });

  test("nothing was complained about on the console", async () => assert.deepEqual(await it.browser.complaints(), []));

  test("the desktop reads nothing of the shell, sets it no cookie, and calls none of its API", async () => {
    const { browser, choir } = it;
    const got = await browser.inDesktop(attack, choir.address);
    assert.equal(got.own, "");
    for (const what of ["document", "cookies", "read", "act", "socket"]) assert.match(got[what], /^refused/, what);
    assert.deepEqual(got.owners, [200, 403, 403, 403]);
    const shell = await browser.inShell(async () => [document.cookie, (await fetch("/api/computers")).status]);
    assert.deepEqual(shell, ["", 200], "a cookie was tossed to the shell, or its session has ended");
  });
}

/** Runs in the desktop: Writer's window takes the left half of it. */
function isLeft() {
  const box = document.querySelector('[data-app="writer"]')?.getBoundingClientRect();
  return box !== undefined && box.left < 20 && Math.abs(box.width - innerWidth / 2) < 30;
}

/** Runs in the desktop: what became of each attempt at what is the shell's. */
async function attack(shell) {
  const tried = async (what) => {
    try {
      const value = await what();
      return typeof value === "string" ? value : "got it";
    } catch (error) {
      return `refused: ${error.name}`;
    }
  };
  const before = document.cookie;
  for (const domain of ["", "; Domain=localhost", "; Domain=choir.localhost"])
    for (const name of ["__Host-choir=tossed; Secure", "choir=tossed"]) {
      // biome-ignore lint/suspicious/noDocumentCookie: the other interface is not everywhere
      document.cookie = `${name}; Path=/${domain}`;
    }
  const own = `/api/computers/${location.hostname.split(".")[0]}`;
  const status = async (path, init) => (await fetch(path, init)).status;
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
  return {
    document: await tried(() => parent.document.title),
    cookies: await tried(() => parent.document.cookie),
    read: await tried(async () => (await fetch(`${shell}/api/computers`, { credentials: "include" })).text()),
    act: await tried(() => fetch(`${shell}/auth/logout`, { method: "POST", credentials: "include", mode: "no-cors" })),
    socket: await tried(
      () =>
        new Promise((done, fail) => {
          const socket = new WebSocket(`${shell.replace("http", "ws")}/bus`);
          socket.onopen = done;
          socket.onerror = () => fail(new Error("refused"));
        }),
    ),
    own: before,
    owners: [
      await status(own),
      await status("/api/computers"),
      await status(`${own}/ticket`, post),
      await status(`${own}/rewind`, { ...post, body: '{"to_seq":1}' }),
    ],
  };
}

/** What the shell's page of the login says. */
const saysAtLogin = () => document.querySelector(".login [role=alert]")?.textContent;
/** What is said in the desktop's place. */
const saysInFrame = () => document.querySelector("h1 + [role=alert]")?.textContent;

const unkeptShell = /did not keep the session's cookie, which is a secure one/;
const unkeptDesktop = /did not keep the desktop's cookie, which is a partitioned one/;

inBrowser("Firefox", noFirefox, () => {
  const it = rig(openFirefox);

  test("the login link opens the shell", () => it.browser.goto(it.choir.login));

  works(it, "firefox");

  test("the desktop's cookie is kept apart by the shell that frames it, and the shell has its own alone", async () => {
    const kept = await it.browser.privileged(() =>
      Services.cookies.cookies.map((c) => [c.host, c.name, c.originAttributes.partitionKey]),
    );
    assert.deepEqual(
      kept.filter(([host]) => host.endsWith("choir.localhost") || host === ".localhost"),
      [["choir.localhost", "__Host-choir", ""]],
    );
    const [, , partition] = kept.find(([, name]) => name === "__Host-choir-desktop");
    assert.equal(partition, "(http,choir.localhost)");
  });

  /** Sets what Firefox blocks, forgets all cookies, and logs in. */
  async function entersBlocking(behaviour, strictly) {
    await it.browser.goto("about:blank");
    await it.browser.privileged(
      (behaviour, strictly) => {
        Services.prefs.setStringPref("browser.contentblocking.category", strictly ? "strict" : "custom");
        Services.prefs.setBoolPref("privacy.trackingprotection.enabled", strictly);
        Services.prefs.setIntPref("network.cookie.cookieBehavior", behaviour);
        Services.cookies.removeAll();
      },
      behaviour,
      strictly,
    );
    await it.browser.goto(await it.choir.link());
  }

  test("with strict tracking protection the desktop opens all the same", async () => {
    await entersBlocking(5, true);
    await it.browser.untilDesktop(() => document.querySelector("#prompt"));
  });

  test("with all cross-site cookies blocked a sentence stands in its place", async () => {
    await entersBlocking(1, false);
    assert.match(await it.browser.untilDesktop(saysInFrame), unkeptDesktop);
  });

  test("with all cookies blocked the login says so", async () => {
    await entersBlocking(2, false);
    assert.match(await it.browser.untilShell(saysAtLogin), unkeptShell);
  });
});

inBrowser("WebKit", noWebKit, () => {
  const it = rig(openWebKit);
  let got;

  test("it keeps no secure cookie of an http address, and the login says so", async () => {
    await it.browser.goto(it.choir.login);
    assert.match(await it.browser.untilShell(saysAtLogin), unkeptShell);
    await it.browser.shoot(join(shots, "webkit-login.png"));
  });

  /** Puts a session's cookie into the browser, which would not take it from us. */
  async function put({ origin, cookie }) {
    await it.browser.goto(`${origin}/icon.svg`);
    await it.browser.putCookie(cookie.name, cookie.value);
  }

  test("a shell that got in all the same is told the same of its desktop, and offers the way on", async () => {
    got = await sessions(it.choir);
    await put(got[0]);
    await it.browser.goto(it.choir.address);
    assert.match(await it.browser.untilDesktop(saysInFrame), unkeptDesktop);
    await it.browser.untilShell(() =>
      document.querySelector(".desktop-silent[role=alert]")?.textContent.includes("Runs"),
    );
    await it.browser.goto(`${it.choir.address}/runs`);
    await it.browser.untilShell(() => document.querySelector("#prompt"));
  });

  test("with both cookies put there it opens", async () => {
    await put(got[1]);
    await it.browser.forget();
    await it.browser.goto(it.choir.address);
  });

  works(it, "webkit");
});

test("a Chromium that blocks third-party cookies opens the desktop", { skip: unbuilt || noBrowser }, async () => {
  const choir = await startChoir();
  const { page, close } = await openBrowser({ stock: true, flags: ["--test-third-party-cookie-phaseout"] });
  try {
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(choir.login);
    await desktopOf(page).locator("#prompt").waitFor();
    const kept = await (await frameOf(page)).evaluate(() => {
      // biome-ignore lint/suspicious/noDocumentCookie: the other interface knows no such cookie
      document.cookie = "third=party; Secure; SameSite=None";
      return document.cookie;
    });
    assert.equal(kept, "", "this Chromium blocks nothing");
  } finally {
    await close();
    await choir.stop();
  }
});
