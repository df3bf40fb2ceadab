// A stock WebKitGTK, driven by its own driver, on a display that nobody sees.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { PATIENCE_MS } from "./browser.js";
import { freePort } from "./choir.js";
import { limits, within } from "./limits.js";
import { Driver } from "./webdriver.js";

const wanted = ["/usr/bin/WebKitWebDriver", "/usr/bin/Xvfb"];

/** Why no test can run in WebKit here, or false. */
export const noWebKit = wanted.every(existsSync) ? false : "no WebKitWebDriver and Xvfb in /usr/bin: make browsers";

/** Where WebDriver has each command. */
const routes = {
  NewSession: ["POST", ""],
  DeleteSession: ["DELETE", ""],
  Navigate: ["POST", "/url"],
  Refresh: ["POST", "/refresh"],
  SwitchToFrame: ["POST", "/frame"],
  FindElement: ["POST", "/element"],
  ExecuteAsyncScript: ["POST", "/execute/async"],
  PerformActions: ["POST", "/actions"],
  AddCookie: ["POST", "/cookie"],
  TakeScreenshot: ["GET", "/screenshot"],
  SetWindowRect: ["POST", "/window/rect"],
};

/** A program that runs the browser that comes with the library, and keeps what consoles say, which the driver does not. */
async function miniBrowser(home) {
  const paths = (await readdir("/usr/lib")).map((arch) => join("/usr/lib", arch, "webkit2gtk-4.1/MiniBrowser"));
  const path = paths.find(existsSync);
  if (!path) throw new Error("WebKitWebDriver is here, and the MiniBrowser of libwebkit2gtk-4.1-0 is not");
  const program = join(home, "browser.sh");
  await writeFile(program, `#!/bin/sh\nexec '${path}' "$@" >>'${join(home, "said")}' 2>&1\n`, { mode: 0o755 });
  return program;
}

/** Every process that runs: none outlives its test, however that ends. */
const running = new Set();
process.once("exit", () => {
  for (const child of running) kill(child, "SIGKILL");
});

/** Starts a process whose children end with it. */
function start(command, args, options) {
  const child = spawn(command, args, { ...options, detached: true });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

function kill(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has ended by itself.
  }
}

async function end(child) {
  if (!running.has(child)) return;
  const ended = once(child, "exit");
  kill(child, "SIGTERM");
  await within(ended, `the end of ${child.spawnfile}`).finally(() => kill(child, "SIGKILL"));
}

/** A display of its own, 1440 by 900; gives its name once it is there. */
async function display() {
  const child = start("/usr/bin/Xvfb", ["-displayfd", "3", "-screen", "0", "1440x900x24", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const [line] = await within(once(createInterface({ input: child.stdio[3] }), "line"), "a display");
  return { child, name: `:${line.trim()}` };
}

/**
 * Opens a WebKitGTK with a new profile, 1440 pixels wide.
 */
export async function openWebKit() {
  const home = await mkdtemp(join(tmpdir(), "choir-webkit-"));
  const screen = await display();
  const port = await freePort();
  const driver = start("/usr/bin/WebKitWebDriver", [`--port=${port}`], {
    stdio: "ignore",
    env: {
      PATH: process.env.PATH,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      DISPLAY: screen.name,
      GDK_BACKEND: "x11",
      NO_AT_BRIDGE: "1",
      GSETTINGS_BACKEND: "memory",
      LIBGL_ALWAYS_SOFTWARE: "1",
    },
  });
  const at = `http://127.0.0.1:${port}`;
  await answers(`${at}/status`, driver);
  const options = {
    binary: await miniBrowser(home),
    args: ["--automation", "--enable-write-console-messages-to-stdout=true"],
  };
  const { sessionId, capabilities } = await call("POST", `${at}/session`, {
    capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options, timeouts: { script: 60_000 } } },
  });
  const send = (command, parameters) => {
    const [method, path] = routes[command];
    return call(method, `${at}/session/${sessionId}${path}`, method === "POST" ? (parameters ?? {}) : undefined);
  };
  await send("SetWindowRect", { x: 0, y: 0, width: 1440, height: 900 });
  return Object.assign(new Driver(send), {
    version: `${capabilities.browserName} ${capabilities.browserVersion}`,
    /** What consoles complained about. */
    async complaints() {
      const said = await readFile(join(home, "said"), "utf8");
      return said.split("\n").filter((line) => /^CONSOLE .*(ERROR|error)/.test(line));
    },
    /** Takes what consoles said so far as known. */
    async forget() {
      await truncate(join(home, "said"));
    },
    /** Puts a cookie where the browser itself does not take it, for the host of the page that is shown. */
    putCookie: (name, value) =>
      send("AddCookie", { cookie: { name, value, path: "/", httpOnly: true, secure: false } }),
    async close() {
      await send("DeleteSession").catch(() => {}); // its processes are ended in any case
      await end(driver);
      await end(screen.child);
      await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  });
}

/** Waits until the driver listens: it does not say when it does. */
async function answers(url, driver) {
  for (const end = performance.now() + PATIENCE_MS; ; await pause(20)) {
    const ok = await fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ok) return;
    if (driver.exitCode !== null || performance.now() > end) throw new Error("WebKitWebDriver did not start");
  }
}

async function call(method, url, parameters) {
  const body = parameters && JSON.stringify(parameters);
  const answer = await fetch(url, { method, body, signal: AbortSignal.timeout(2 * limits.call) });
  const { value } = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(`${value.error}: ${value.message}`), { code: value.error });
  return value;
}
