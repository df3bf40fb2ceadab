// A stock Firefox, driven over Marionette: WebDriver's commands, each with its
// length before it, on a socket that Firefox itself listens on.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { limits, within } from "./limits.js";
import { Driver } from "./webdriver.js";

const executable = ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find(existsSync);

/** Why no test can run in Firefox here, or false. */
export const noFirefox = executable ? false : "no Firefox in /usr/bin: make browsers";

/** What keeps a new profile quiet; nothing here has to do with pages and what they may. */
const prefs = {
  "marionette.port": 0,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.homepage_override.mstone": "ignore",
  "browser.startup.page": 0,
  "datareporting.policy.dataSubmissionEnabled": false,
  "toolkit.telemetry.reportingpolicy.firstRun": false,
  "app.normandy.enabled": false,
  "app.update.enabled": false,
  "browser.newtabpage.enabled": false,
  "services.settings.server": "data:,#remote-settings-dummy/v1",
  "extensions.systemAddon.update.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
};

/** Opens a Firefox with a new profile, 1440 pixels wide. */
export async function openFirefox() {
  const profile = await mkdtemp(join(tmpdir(), "choir-firefox-"));
  const lines = Object.entries(prefs).map(([k, v]) => `user_pref(${JSON.stringify(k)}, ${JSON.stringify(v)});\n`);
  await writeFile(join(profile, "user.js"), lines.join(""));
  const child = spawn(
    executable,
    [
      "--headless",
      "--marionette",
      "--remote-allow-system-access",
      "--no-remote",
      "--profile",
      profile,
      "--width",
      "1440",
      "--height",
      "900",
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const { send, end } = await marionette(await within(listening(child), "the port of Firefox", limits.call));
  const { capabilities } = await send("NewSession", {
    capabilities: { alwaysMatch: { timeouts: { script: 60_000 } } },
  });
  return Object.assign(new Driver(send), {
    version: `${capabilities.browserName} ${capabilities.browserVersion}`,
    /** Runs a script with the rights of the browser itself. */
    async privileged(fn, ...args) {
      await send("Marionette:SetContext", { value: "chrome" });
      try {
        return await send("ExecuteScript", { script: `return (${fn})(...arguments)`, args });
      } finally {
        await send("Marionette:SetContext", { value: "content" });
      }
    },
    /** What consoles complained about that is of pages. */
    complaints() {
      return this.privileged(() =>
        Services.console.getMessageArray().flatMap((message) => {
          if (!(message instanceof Ci.nsIScriptError) || message.flags & Ci.nsIScriptError.warningFlag) return [];
          return message.sourceName.includes("localhost") ? [message.errorMessage] : [];
        }),
      );
    },
    async close() {
      const ended = once(child, "exit");
      await send("Marionette:Quit", { flags: ["eForceQuit"] }).catch(kill);
      await within(ended, "the end of Firefox").finally(kill);
      end();
      process.off("exit", kill);
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  });
}

/** The port that Firefox says it listens on. */
async function listening(child) {
  const said = [];
  child.stderr.on("data", (chunk) => said.push(chunk));
  for await (const line of createInterface({ input: child.stdout })) {
    const [, port] = line.match(/Marionette\s+INFO\s+Listening on port (\d+)/) ?? [];
    if (!port) continue;
    child.stdout.resume();
    return Number(port);
  }
  throw new Error(`Firefox ended: ${Buffer.concat(said)}`);
}

/** Sends commands and finds the answers among what comes: LENGTH:[1,ID,ERROR,RESULT]. */
async function marionette(port) {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const waiting = new Map();
  let got = Buffer.alloc(0);
  let last = 0;
  socket.on("data", (chunk) => {
    got = Buffer.concat([got, chunk]);
    for (;;) {
      const colon = got.indexOf(":");
      const end = colon + 1 + Number(got.subarray(0, colon));
      if (colon < 0 || got.length < end) return;
      const message = JSON.parse(got.subarray(colon + 1, end).toString());
      got = got.subarray(end);
      if (!Array.isArray(message)) continue; // the greeting
      const [, id, error, result] = message;
      const { done, fail } = waiting.get(id);
      waiting.delete(id);
      if (error) fail(Object.assign(new Error(error.message), { code: error.error }));
      else done(result?.value !== undefined ? result.value : result);
    }
  });
  socket.on("close", () => {
    for (const { fail } of waiting.values()) fail(new Error("Firefox closed the connection"));
  });
  const ask = (command, parameters) =>
    new Promise((done, fail) => {
      const id = ++last;
      waiting.set(id, { done, fail });
      const text = JSON.stringify([0, id, command.includes(":") ? command : `WebDriver:${command}`, parameters]);
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  // A script in a page has a minute of its own.
  const send = (command, parameters = {}) => within(ask(command, parameters), `Firefox: ${command}`, 2 * limits.call);
  return { send, end: () => socket.destroy() };
}
