// Shell and desktops under names of their own, over HTTPS: a proxy ends TLS in front of choir, and every
// name leads to it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createServer } from "node:tls";
import { promisify } from "node:util";
import { noBrowser, openBrowser } from "../lib/browser.js";
import { freePort, startChoir } from "../lib/choir.js";
import { goToPage } from "../lib/desktop.js";
import { untilHolds } from "../lib/limits.js";
import { desktopOf, enterDesktop, openWindow } from "../lib/windows.js";

const shell = "choir.example.org";
const domain = "choir-desktops.example";
const flags = ["--ignore-certificate-errors", "--host-resolver-rules=MAP *.example* 127.0.0.1"];
let choir, browser, proxy;

/** A key and a certificate of its own, which the browser is told to take. */
async function certificate() {
  const folder = await mkdtemp(join(tmpdir(), "choir-tls-"));
  const [key, cert] = ["key", "cert"].map((name) => join(folder, `${name}.pem`));
  const wanted = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  await promisify(execFile)("openssl", [...wanted, "-subj", `/CN=${shell}`, "-keyout", key, "-out", cert]);
  const made = { key: await readFile(key), cert: await readFile(cert) };
  await rm(folder, { recursive: true });
  return made;
}

/** Ends TLS at one port and passes all bytes on to another. */
async function endTLS(port, to) {
  const open = new Set();
  const server = createServer(await certificate(), (outer) => {
    const inner = connect(to, "127.0.0.1");
    for (const [one, other] of [
      [outer, inner],
      [inner, outer],
    ]) {
      open.add(one);
      one.on("close", () => open.delete(one));
      one.on("error", () => other.destroy());
      one.pipe(other);
    }
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

before(async () => {
  if (noBrowser) return;
  const port = await freePort();
  choir = await startChoir(`shell = "${shell}"\ndomain = "${domain}"\nscheme = "https"\npublic_port = ${port}\n`);
  const written = await readFile(join(choir.data, "choir.toml"), "utf8");
  proxy = await endTLS(port, Number(/127\.0\.0\.1:(\d+)/.exec(written)[1]));
  browser = await openBrowser({ stock: true, flags });
});

after(async () => {
  await browser?.close();
  await proxy?.close();
  await choir?.stop();
});

test("shell and desktop work under names of their own, over HTTPS", { skip: noBrowser }, async () => {
  const { page, complaints } = browser;
  const link = await choir.link();
  assert.ok(link.startsWith(`https://${shell}:${new URL(choir.address).port}/login#`), link);
  await page.goto(link);
  // What the shell says to the desktop and the desktop to the shell arrives, and both hear the computer live.
  const frame = await enterDesktop(page);
  const at = new URL(frame.url());
  assert.equal(at.protocol, "https:");
  assert.ok(at.hostname.endsWith(`.${domain}`), at.hostname);
  await page.locator(".connection").getByText("Live").waitFor();
  await desktopOf(page).locator("#prompt").press("Control+k");
  await desktopOf(page).getByRole("dialog", { name: "Launcher" }).waitFor();
  await page.keyboard.press("Escape");
  // The desktop gives the shell what is typed, and has it back when it is loaded again.
  await desktopOf(page).locator("#prompt").fill("carried over");
  await goToPage(page, "Runs");
  await enterDesktop(page);
  assert.equal(await desktopOf(page).locator("#prompt").inputValue(), "carried over");
  const { id } = await openWindow(page, "terminal");
  await desktopOf(page).locator(`[data-window="${id}"]`).waitFor();
  await desktopOf(page).locator(`[data-window="${id}"] .xterm`).waitFor();
  const cookies = await browser.context.cookies();
  assert.ok(cookies.length >= 2);
  for (const one of cookies) assert.ok(one.secure && one.httpOnly, one.name);
  assert.deepEqual(complaints, []);
});

test("a page of another name is sent nothing of a session", { skip: noBrowser }, async () => {
  const { page } = browser;
  const frame = await enterDesktop(page);
  // Same port, same proxy, another site: the shell's cookie stays where it is.
  const status = await frame.evaluate(
    (address) => fetch(`${address}/api/computers`, { credentials: "include" }).then((r) => r.status, String),
    choir.address,
  );
  assert.match(String(status), /TypeError|401|403/);
});

/** Runs in a page: has the browser load an address in each way that takes the cookie along. */
async function loadEach(address) {
  const loads = (tag, named) =>
    new Promise((done) => {
      const element = Object.assign(document.createElement(tag), named);
      element.onload = () => done("loaded");
      element.onerror = () => done("refused");
      document.head.append(element);
    });
  return {
    script: await loads("script", { src: address }),
    module: await loads("link", { rel: "preload", as: "script", href: address }),
    image: await loads("img", { src: address }),
    fetch: await fetch(address, { credentials: "include" }).then(
      (r) => `status ${r.status}`,
      () => "refused",
    ),
  };
}

test("a page of one computer loads nothing of another below the same domain", { skip: noBrowser }, async () => {
  // Without choir's content policy the browser sends all of it, with the cookie of the other computer.
  const free = await openBrowser({
    stock: true,
    bypassCSP: true,
    flags: [...flags, "--disable-features=ConnectionAllowlists"],
  });
  try {
    const { page } = free;
    const show = async (id) => {
      await page.goto(`${choir.address}/?computer=${id}`);
      return enterDesktop(page);
    };
    await page.goto(await choir.link());
    const [id] = new URL((await enterDesktop(page)).url()).hostname.split(".");
    const fork = await page.evaluate(async (id) => {
      const named = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"name":"Other"}' };
      return (await fetch(`/api/computers/${id}/fork`, named)).json();
    }, id);
    const other = await show(fork.id);
    const bundle = await other.evaluate(() => document.querySelector("script[src]").src);
    assert.ok(new URL(bundle).hostname.startsWith(`${fork.id}.`), bundle);
    assert.equal((await other.evaluate(loadEach, bundle)).script, "loaded", "its own page does not load it either");

    const mine = await show(id);
    assert.ok(new URL(mine.url()).hostname.startsWith(`${id}.`), mine.url());
    // The page's own events say nothing of answers that the browser refuses to give it.
    const session = await free.context.newCDPSession(mine);
    const [sent, answered] = [[], []];
    session.on("Network.requestWillBeSentExtraInfo", (e) => sent.push(e));
    session.on("Network.responseReceivedExtraInfo", (e) => answered.push(e));
    await session.send("Network.enable");
    assert.deepEqual(await mine.evaluate(loadEach, bundle), {
      script: "refused",
      module: "refused",
      image: "refused",
      fetch: "refused",
    });
    const toOther = sent.filter(({ headers }) => headers.Host?.startsWith(fork.id));
    const answerTo = ({ requestId }) => answered.find((e) => e.requestId === requestId);
    await untilHolds(page, () => toOther.every(answerTo), "an answer to each request");
    assert.ok(toOther.length >= 3, `${toOther.length} requests were sent`);
    for (const request of toOther) {
      assert.match(
        request.headers.Cookie ?? "none",
        /choir-desktop=/,
        "it came without the other's cookie, and proves nothing",
      );
      assert.equal(answerTo(request).statusCode, 403);
    }
  } finally {
    await free.close();
  }
});
