// A desktop that wants more than it may, in a real browser. Approvals and owner's
// phrases do not exist yet; what there is to steal are keys and the session.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { desktopOf, enterDesktop, frameOf, goToPage, write } from "../lib/desktop.js";
import { api, rig, skip } from "../lib/rig.js";

/** How long the first start of the development server may take here, in milliseconds. */
const COLD_MS = 60_000;

describe("a desktop as it came", () => {
  const it = rig({ desktop: true, browser: { stock: true } });

  test("the login link lands on the desktop, whose prompt has the keys", { skip }, async () => {
    const { page } = it;
    assert.equal(new URL(page.url()).pathname, "/");
    await page.waitForFunction(() => document.activeElement?.tagName === "IFRAME");
    const frame = await frameOf(page);
    await frame.waitForFunction(() => document.activeElement?.id === "prompt");
    await page.keyboard.type("hello");
    assert.equal(await frame.locator("#prompt").inputValue(), "hello");
  });

  test("its frame has exactly the rights it needs", { skip }, async () => {
    const frame = it.page.locator("iframe.desktop-frame");
    assert.equal(
      await frame.getAttribute("sandbox"),
      "allow-scripts allow-same-origin allow-forms allow-downloads allow-modals",
    );
    assert.equal(await frame.getAttribute("allow"), "clipboard-write; fullscreen");
  });

  test("its session is a cookie of its own, kept apart by the shell that frames it", { skip }, async () => {
    const cookie = (await it.context.cookies()).find((c) => c.name === "__Host-choir-desktop");
    assert.deepEqual(
      [cookie.httpOnly, cookie.secure, cookie.sameSite, cookie.partitionKey],
      [true, true, "None", "http://choir.localhost"],
    );
  });

  test("every page of the shell takes the desktop off the page, and what was typed comes back", { skip }, async () => {
    const { page } = it;
    const pages = page.getByRole("navigation", { name: "Pages of the top bar" });
    for (const name of ["Timeline", "Runs", "Recover"]) {
      await pages.getByRole("link", { name }).click();
      await page.locator("iframe.desktop-frame").waitFor({ state: "detached" });
    }
    const frame = await enterDesktop(page);
    await frame.waitForFunction(() => document.querySelector("#prompt").value === "hello");
  });

  test("nothing was complained about on the console", { skip }, () => assert.deepEqual(it.complaints, []));

  test("a browser that drops its cookie is told so by name, and the shell offers the way out", { skip }, async () => {
    const { page, context } = it;
    await context.clearCookies({ name: "__Host-choir-desktop" });
    const frame = await frameOf(page);
    await frame.evaluate(() => location.assign("/?entered"));
    await desktopOf(page).getByText("did not keep the desktop's cookie, which is a partitioned one").waitFor();
    await page.getByRole("alert").getByRole("button", { name: "Recover" }).click();
    await page.getByRole("button", { name: "Open the desktop again" }).click();
    await enterDesktop(page);
  });

  test("without JavaScript the shell says a sentence", { skip }, async () => {
    const { page, context } = it;
    const devtools = await context.newCDPSession(page);
    await devtools.send("Emulation.setScriptExecutionDisabled", { value: true });
    await page.goto(it.choir.address);
    const said = page.locator("noscript");
    await said.waitFor();
    assert.match(await said.innerText(), /ChoirOS needs JavaScript/);
    await devtools.send("Emulation.setScriptExecutionDisabled", { value: false });
    await page.goto(it.choir.address);
    await enterDesktop(page);
  });
});

/** Takes the focus all the time, writes down each key, and covers all it can reach. */
const hostile = `
const shell = "http://choir.localhost:" + location.port;
globalThis.heard = [];
globalThis.shell = shell;
const trap = document.createElement("textarea");
trap.id = "trap";
trap.style.cssText = "position:fixed;inset:-500px;z-index:2147483647;width:300vw;height:300vh";
document.body.append(trap);
addEventListener("keydown", (e) => globalThis.heard.push(e.key), true);
setInterval(() => {
  globalThis.focus();
  trap.focus();
}, 5);
parent.postMessage({ choir: 1, kind: "ready" }, shell);
`;

describe("a hostile desktop", () => {
  const it = rig({ desktop: true, browser: { stock: true } });
  const inside = async (run, arg) => (await frameOf(it.page)).evaluate(run, arg);

  test("it is served from the workspace", { skip }, async () => {
    await write(it.page, "choiros/public/sw.js", "addEventListener('fetch', () => {});");
    await write(it.page, "choiros/src/main.tsx", hostile);
    await desktopOf(it.page).locator("#trap").waitFor({ timeout: COLD_MS });
    await it.page.waitForFunction(() => document.activeElement?.tagName === "IFRAME");
  });

  test("it gets no key that is typed into a page of the shell", { skip }, async () => {
    const { page } = it;
    await page.keyboard.type("for the desktop");
    assert.ok((await inside(() => globalThis.heard.length)) > 0, "it does not even hear what is typed into it");
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.locator("#prompt").click();
    await page.keyboard.type("a secret of the owner", { delay: 10 });
    assert.equal(await page.locator("#prompt").inputValue(), "a secret of the owner");
    await page.locator("#prompt").fill("");
  });

  test("it covers nothing of the bar", { skip }, async () => {
    const { page } = it;
    await goToPage(page, "Desktop");
    await desktopOf(page).locator("#trap").waitFor();
    const covered = await page.evaluate(() => {
      const bar = document.querySelector(".header");
      const { width, height } = bar.getBoundingClientRect();
      const points = [1, width / 3, width / 2, width - 1].flatMap((x) =>
        [1, height / 2, height - 1].map((y) => [x, y]),
      );
      return points.filter(([x, y]) => !bar.contains(document.elementFromPoint(x, y)));
    });
    assert.deepEqual(covered, []);
  });

  test("it cannot put another page in the shell's place", { skip }, async () => {
    const url = it.page.url();
    const outcomes = await inside(() => {
      const attempts = [
        () => {
          top.location = "about:blank";
        },
        () => top.location.replace("about:blank"),
        () => open("about:blank", "_top"),
        () => {
          const link = Object.assign(document.createElement("a"), { href: "about:blank", target: "_top" });
          document.body.append(link);
          link.click();
        },
        () => {
          const form = Object.assign(document.createElement("form"), { action: "about:blank", target: "_top" });
          document.body.append(form);
          form.submit();
        },
      ];
      return attempts.map((attempt) => {
        try {
          attempt();
          return "nothing happened";
        } catch (error) {
          return error.name;
        }
      });
    });
    assert.equal(outcomes.length, 5);
    assert.equal(it.page.url(), url);
    assert.ok(await it.page.locator(".header").isVisible());
  });

  test("it reads nothing of the shell, and calls none of its API", { skip }, async () => {
    const got = await inside(async () => {
      const { shell } = globalThis;
      const tried = async (what) => {
        try {
          const value = await what();
          return typeof value === "string" ? value : "got it";
        } catch (error) {
          return `refused: ${error.name}`;
        }
      };
      return {
        document: await tried(() => parent.document.title),
        cookies: await tried(() => parent.document.cookie),
        read: await tried(async () => (await fetch(`${shell}/api/computers`, { credentials: "include" })).text()),
        act: await tried(() =>
          fetch(`${shell}/auth/logout`, { method: "POST", credentials: "include", mode: "no-cors" }),
        ),
        socket: await tried(
          () =>
            new Promise((done, fail) => {
              const socket = new WebSocket(`${shell.replace("http", "ws")}/bus`);
              socket.onopen = done;
              socket.onerror = () => fail(new Error("refused"));
            }),
        ),
        own: document.cookie,
      };
    });
    assert.equal(got.own, "");
    for (const what of ["document", "cookies", "read", "act", "socket"]) assert.match(got[what], /^refused/, what);
    const { status } = await api(it.page, "");
    assert.equal(status, 200, "the shell's session has ended");
  });

  test("it may not do what is the owner's on its own origin either", { skip }, async () => {
    const statuses = await inside(async () => {
      const base = `/api/computers/${location.hostname.split(".")[0]}`;
      const post = async (path, body) =>
        (
          await fetch(base + path, {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify(body),
          })
        ).status;
      return [
        (await fetch(base)).status,
        (await fetch("/api/computers")).status,
        await post("/rewind", { to_seq: 1 }),
        await post("/fork", { name: "x" }),
        await post("/ticket", {}),
        (await fetch(`${base}/archive`)).status,
      ];
    });
    assert.deepEqual(statuses, [200, 403, 403, 403, 403, 403]);
  });

  test("it starts the demo as it is shipped only, once at a time, which costs nothing and replaces nothing but its project", {
    skip,
  }, async () => {
    const got = await inside(async () => {
      const base = `/api/computers/${location.hostname.split(".")[0]}`;
      const send = (method, path, headers, body) => fetch(base + path, { method, headers, body });
      const json = { "Content-Type": "application/json" };
      const demo = (parts) => send("POST", "/demo", json, JSON.stringify(parts));
      const read = async (path) => (await fetch(`${base}/files/${path}`)).text();
      const own = { "If-Match": "*" };
      await send("PUT", "/files/workspace/mine/bin/tally", own, "mine");
      await send("PUT", "/files/workspace/tally/mine", own, "mine");
      const refused = [];
      for (const part of [{ live: true }, { recording: "eA==" }, { repo: "eA==" }, { name: "mine" }, {}])
        refused.push((await demo(part)).status);
      const items = [{ from: "workspace/tally", to: "workspace/other", if_match: "*" }];
      await send("POST", "/moves", json, JSON.stringify({ items }));
      const { seq } = await (await fetch(`${base}/desktop`)).json();
      const { run, repo } = await (await demo({ paced: true })).json();
      const more = [];
      for (let i = 0; i < 10; i++) more.push((await demo({})).status);
      await send("POST", `/runs/${run}/faster`);
      let end;
      do end = await (await fetch(`${base}/runs/${run}`)).json();
      while (["planning", "running", "waiting"].includes(end.state));
      const { events } = await (await fetch(`${base}/events?limit=1000&after=${seq}`)).json();
      const touched = events
        .filter((e) => e.type.startsWith("file."))
        .flatMap((e) => e.payload.paths ?? e.payload.files.map((f) => f.path));
      return {
        refused,
        playing: [...new Set(more)].sort(),
        repo,
        end: [end.state, end.usage.cost_usd],
        brought: events.find((e) => e.type === "repo.added").source,
        beside: touched.filter((path) => !path.startsWith("workspace/tally")),
        touched: touched.length > 0,
        mine: [await read("workspace/mine/bin/tally"), await read("workspace/other/mine")],
      };
    });
    assert.deepEqual(got, {
      refused: [403, 403, 403, 422, 409],
      playing: [409, 429],
      repo: "tally",
      end: ["done", 0],
      brought: "desktop",
      beside: [],
      touched: true,
      mine: ["mine", "mine"],
    });
  });

  test("it cannot toss a cookie to the shell", { skip }, async () => {
    const shells = async () => (await it.context.cookies()).filter((c) => c.name === "__Host-choir");
    const before = await shells();
    await inside(() => {
      for (const rest of [
        "; Path=/; Secure; Domain=localhost",
        "; Path=/; Secure; Domain=choir.localhost",
        "; Path=/; Domain=localhost",
      ])
        Reflect.set(document, "cookie", `__Host-choir=tossed${rest}`);
    });
    assert.deepEqual(await shells(), before);
    assert.equal((await api(it.page, "")).status, 200);
  });

  test("it cannot frame the shell", { skip }, async () => {
    const frame = await frameOf(it.page);
    await frame.evaluate(
      () =>
        new Promise((done) => {
          const inner = document.createElement("iframe");
          inner.id = "inner";
          inner.onload = done;
          inner.src = `${globalThis.shell}/plain`;
          document.body.append(inner);
        }),
    );
    const inner = await (await frame.locator("#inner").elementHandle()).contentFrame();
    assert.equal(await inner.locator(".header, .login, #prompt").count(), 0, "the shell is in its frame");
    await frame.evaluate(() => document.querySelector("#inner").remove());
  });

  test("it opens no window, with a click or without", { skip }, async () => {
    const { page, context } = it;
    const before = context.pages().length;
    await desktopOf(page)
      .locator("#trap")
      .click({ position: { x: 900, y: 900 } });
    const popup = await inside(() => open("about:blank", "", "width=300,height=200") !== null);
    assert.deepEqual([popup, context.pages().length], [false, before]);
  });

  test("a link of it is shown whole, takes the place of no other, and is opened by the owner only", {
    skip,
  }, async () => {
    const { page, context } = it;
    const link = `${it.choir.address}/openapi.json?a=${"b".repeat(300)}`;
    // How long its button stands there before it can be pressed, by the page's own clock.
    const waited = page.evaluate(
      () =>
        new Promise((done) => {
          let seen;
          const look = () => {
            const button = document.querySelector('[aria-label="A link leads outside"] button');
            if (button && seen === undefined) seen = performance.now();
            if (button && !button.disabled) done(performance.now() - seen);
            else requestAnimationFrame(look);
          };
          look();
        }),
    );
    await inside((link) => {
      const { shell } = globalThis;
      for (const address of [
        "javascript:alert(1)",
        "http://choir.localhost@evil.example/",
        link,
        "http://evil.example/",
      ])
        parent.postMessage({ choir: 1, kind: "link", address }, shell);
    }, link);
    const note = page.getByRole("region", { name: "A link leads outside" });
    assert.equal(await note.locator("code").innerText(), link);
    assert.equal(context.pages().length, 1);
    assert.ok((await waited) > 600, "it can be opened before it can be read");
    const opened = context.waitForEvent("page");
    await note.getByRole("button", { name: "Open in a new tab" }).click();
    const tab = await opened;
    await tab.waitForLoadState();
    assert.deepEqual([tab.url(), await tab.evaluate(() => opener === null && document.referrer === "")], [link, true]);
    await tab.close();
    await note.waitFor({ state: "detached" });
  });

  test("it gets no service worker, which would outlive it", { skip }, async () => {
    const outcome = await inside(() =>
      navigator.serviceWorker.register("/sw.js").then(
        () => "registered",
        (error) => error.name,
      ),
    );
    assert.notEqual(outcome, "registered");
  });

  test("its messages only look, and only at pages that are named", { skip }, async () => {
    const { page } = it;
    const { body: before } = await api(page, "/events?limit=1000");
    await inside(() => {
      const { shell } = globalThis;
      for (const message of [
        { choir: 1, kind: "rewind", to_seq: 1 },
        { choir: 1, kind: "open", page: "login" },
        { choir: 1, kind: "open", page: "http://evil.example" },
        { choir: 1, kind: "chord", chord: "approve" },
        { choir: 1, kind: "open", page: "timeline" },
      ])
        parent.postMessage(message, shell);
    });
    await page.waitForURL("**/time");
    assert.equal(await page.locator("iframe.desktop-frame").count(), 0, "it is beside the page");
    const { body: after } = await api(page, "/events?limit=1000");
    assert.deepEqual(
      after.events
        .slice(before.events.length)
        .filter((e) => e.source !== "system")
        .map((e) => e.type),
      [],
    );
  });

  test("the owner goes back, and the desktop is the one that came", { skip }, async () => {
    const { page } = it;
    const { body } = await api(page, "/events?limit=1000");
    const first = body.events.find(
      (e) => e.type === "file.written" && e.payload.files.some((f) => f.path.endsWith("sw.js")),
    );
    const back = await api(page, "/rewind", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ to_seq: first.seq - 1 }),
    });
    assert.equal(back.status, 200);
    await page.getByRole("link", { name: "Recover" }).click();
    await page.getByRole("button", { name: "Open the desktop again" }).click();
    await enterDesktop(page);
    assert.equal(await desktopOf(page).locator("#trap").count(), 0);
  });
});
