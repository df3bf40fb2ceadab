// A task asks for a host outside, and the owner answers where no desktop can.
import assert from "node:assert/strict";
import { test } from "node:test";
import { violationsIn } from "../lib/axe.js";
import { openBrowser } from "../lib/browser.js";
import { api, ask, rig, runIs, skip } from "../lib/rig.js";
import { desktopAPI, enterDesktop } from "../lib/windows.js";

const it = rig({ model: true, desktop: true });
const host = "shop.example:80";
const json = (body) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});
const bar = () => it.page.getByRole("link", { name: "A task asks for a host" });
const button = (name) => it.page.getByRole("button", { name: `${name}: ${host}` });

/** Prompts for a run whose task asks for the host until it is let out, and opens the page of the answers. */
async function asked() {
  await it.page.goto(`${it.choir.address}/runs`);
  const run = await ask(it.page, "shop there");
  await bar().click();
  await it.page.waitForURL("**/models/hosts");
  await button("Deny").waitFor(); // the host itself may be among those asked before, too
  return run;
}

const ended = (run, state) => runIs(it.page, run, state);

test("what programs reach is chosen on the page, and is in force at once and after a reload", { skip }, async () => {
  await it.page.goto(`${it.choir.address}/models/hosts`);
  const reach = it.page.getByRole("group", { name: "Programs in the sandboxes reach" });
  const chosen = (name) => reach.getByRole("radio", { name, checked: true });
  await chosen("nothing outside").waitFor();
  assert.deepEqual(await violationsIn(it.page), []);
  await reach.getByRole("radio", { name: "what I allow" }).click();
  await chosen("what I allow").waitFor();
  await reach.getByRole("radio", { name: "git hosts and package registries too" }).click();
  await chosen("git hosts and package registries too").waitFor();
  await it.page.reload();
  await chosen("git hosts and package registries too").waitFor();
  const rules = it.page.getByText(/^The policy lets out \d+ hosts$/);
  await rules.click();
  await it.page.getByText("registry.npmjs.org:443").waitFor();
  await it.page.getByText("GET HEAD").first().waitFor();
  const { mode } = (await api(it.page, "/egress")).body;
  assert.equal(mode, "git+pkg");
  // A host of the list is taken away for every port of it, and put back, also when pressed twice.
  await it.page.getByRole("button", { name: "Take away: deb.debian.org" }).dblclick();
  await it.page.getByRole("heading", { name: "Taken away from the list" }).waitFor();
  await it.page.getByText("deb.debian.org:80").waitFor({ state: "detached" });
  assert.deepEqual((await api(it.page, "/egress")).body.away, ["deb.debian.org"]);
  assert.deepEqual(await violationsIn(it.page), []);
  await it.page.reload();
  await it.page.getByRole("button", { name: "Put back: deb.debian.org" }).click();
  await it.page.getByRole("heading", { name: "Taken away from the list" }).waitFor({ state: "detached" });
  await rules.click();
  await it.page.getByText("deb.debian.org:80").waitFor();
  // Where the file says it, it is shown and not offered.
  const settings = /\/api\/settings$/;
  const known = await it.page.evaluate(async () => (await fetch("/api/settings")).json());
  await it.context.route(settings, (route) => route.fulfill({ json: { ...known, egress_in_file: true } }));
  await it.page.reload();
  await it.page.getByText(/The policy is that of .*choir\.toml/).waitFor();
  assert.equal(await reach.getByRole("radio", { disabled: false }).count(), 0, "a choice is offered");
  await it.context.unroute(settings);
});

test("a task that wants a host is told of in the bar, and let out for its run", { skip }, async () => {
  const run = await asked();
  assert.equal(await it.page.locator("iframe").count(), 0, "a desktop is beside the answers");
  await it.page.getByText("The policy git+pkg does not have it").waitFor();
  assert.deepEqual(await violationsIn(it.page), []);
  await button("For this run").click();
  await it.page.getByText("No task asks for a host.").waitFor();
  // The host does not exist, which the program is told now.
  await ended(run, "done");
  await it.page.getByText("Nothing is granted.").waitFor();
  assert.equal(await bar().count(), 0);
});

test("what is denied stays refused, and is asked for no more by its run", { skip }, async () => {
  const run = await asked();
  await button("Deny").click();
  await it.page.getByText("No task asks for a host.").waitFor();
  await it.page.evaluate(
    async ([run, options]) => {
      const [computer] = await (await fetch("/api/computers")).json();
      await fetch(`/api/computers/${computer.id}/runs/${run}/cancel`, options);
    },
    [run, json({})],
  );
  await ended(run, "cancelled");
  const { body } = await api(it.page, `/events?run=${run}&limit=1000`);
  assert.ok(body.events.every((e) => e.type !== "egress.passed"));
});

test("a grant for always is listed, and revoked by one press", { skip }, async () => {
  const run = await asked();
  await button("Always").click();
  await ended(run, "done");
  await button("Revoke").click();
  await it.page.getByText("Nothing is granted.").waitFor();
});

test("what waits for the owner fits into the bar, in German too", { skip }, async () => {
  const known = await it.page.evaluate(async () => (await fetch("/api/computers")).json());
  const list = known.map((computer) => ({ ...computer, asks: 12, approvals: 12 }));
  for (const width of [390, 900, 1241, 1440, 1920, 2300]) {
    const other = await openBrowser({ locale: "de-DE", width });
    try {
      await other.context.route(/\/api\/computers(\/[^/]+)?$/, (route) =>
        route.fulfill({ json: route.request().url().endsWith("/computers") ? list : list[0] }),
      );
      await other.page.goto(await it.choir.link());
      await other.page.waitForSelector("iframe.desktop-frame");
      const waits = other.page.getByRole("link", { name: "Aufgaben fragen nach 12 Hosts" });
      await waits.waitFor();
      const outside = await other.page.locator("header").evaluate((bar) =>
        [...bar.querySelectorAll("a, button, .connection, .header-asks .header-word, .computers-name")]
          .filter((part) => {
            const { left, right, width } = part.getBoundingClientRect();
            return width > 1 && (left < 0 || right > innerWidth);
          })
          .map((part) => part.textContent),
      );
      assert.deepEqual(outside, [], `${width} wide`);
      const scrolls = await other.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(scrolls <= 0, `the page is ${scrolls} px wider than ${width}`);
      if (width > 1240) {
        const { name, said } = await other.page.evaluate(() => ({
          name: document.querySelector(".computers-name").getBoundingClientRect().width,
          said: Math.min(...[...document.querySelectorAll(".header-asks .header-word")].map((e) => e.clientWidth)),
        }));
        assert.ok(name >= 40 && said >= 100, `${width} wide the name has ${name} px, what waits ${said}`);
      }
    } finally {
      await other.close();
    }
  }
});

test("how the pushes to the git server stand is told, in both languages", { skip }, async () => {
  const url = "https://git.example/ann/hello.git";
  const project = (name, push) => ({ name, files: 1, bytes: 1, at: new Date().toISOString(), push });
  const list = [
    project("fails", { state: "failing", url, attempts: 3, said: "403 <b>no</b>\u001b[31m", commit: "a".repeat(40) }),
    project("new", { state: "nothing", url }),
    project("under-way", { state: "waiting", url }),
    project("alone", undefined),
  ];
  const said = {
    "en-GB": [
      "Pushes to your git server",
      "3 pushes failed, one after the other; it is tried again by itself. git said: 403 <b>no</b>\\x1b[31m",
      /If it goes on failing, look whether git.remote_template/,
      "The server has commit aaaaaaaaaaaa.",
      "The newest commit is on its way.",
    ],
    "de-DE": [
      "git push zu deinem Server",
      "3 Versuche nacheinander schlugen fehl; der nächste kommt von selbst. git meldet: 403 <b>no</b>\\x1b[31m",
      /Bleibt es dabei: Stimmt die Adresse in git.remote_template/,
      "Der Server hat den Commit aaaaaaaaaaaa.",
      "Der neueste Commit ist unterwegs.",
    ],
  };
  for (const [locale, words] of Object.entries(said)) {
    const other = await openBrowser({ locale, width: 390, dark: locale === "de-DE" });
    try {
      await other.context.route(/\/api\/computers\/[^/]+\/repos$/, (route) => route.fulfill({ json: list }));
      await other.page.goto(await it.choir.link());
      await other.page.waitForSelector("iframe.desktop-frame");
      await other.page.goto(`${it.choir.address}/models/hosts`);
      for (const text of words) await other.page.getByText(text).waitFor();
      assert.equal(await other.page.getByText("alone", { exact: true }).count(), 0, "it is pushed nowhere");
      assert.equal(await other.page.locator("main b b").count(), 0, "what git said is part of the page");
      assert.deepEqual(await violationsIn(other.page), []);
    } finally {
      await other.close();
    }
  }
});

test("the list of computers says which stand still and which hibernate", { skip }, async () => {
  const list = /\/api\/computers$/;
  const [known] = await it.page.evaluate(async () => (await fetch("/api/computers")).json());
  const named = (name, over) => ({ ...known, id: `${known.id.slice(0, -2)}${name.length}0`, name, ...over });
  const json = [known, named("cold", { frozen: true }), named("asleep", { hibernated: true, head: 1 })];
  await it.context.route(list, (route) => route.fulfill({ json }));
  await it.page.goto(`${it.choir.address}/runs`);
  await it.page
    .getByRole("button", { name: /Show your computers|computers/i })
    .first()
    .click();
  const shown = it.page.getByRole("list", { name: "Your computers" });
  await shown.getByRole("link", { name: /cold stands still · / }).waitFor();
  await shown.getByRole("link", { name: /asleep hibernates · 1 event$/ }).waitFor();
  await shown.getByRole("link", { name: /ready · / }).waitFor();
  await it.context.unroute(list);
});

test("a desktop can answer nothing", { skip }, async () => {
  await it.page.goto(`${it.choir.address}/`);
  await enterDesktop(it.page);
  for (const [path, body] of [
    ["/egress/grants", { host: "shop.example", port: 80, scope: "always" }],
    ["/egress/deny", { host: "shop.example", port: 80 }],
    ["/egress/revoke", { host: "shop.example", port: 80 }],
  ]) {
    assert.equal((await desktopAPI(it.page, path, json(body))).status, 403, path);
  }
  assert.equal((await desktopAPI(it.page, "/egress")).status, 403);
  it.complaints.splice(0); // of these answers
});

test("nothing else was complained about on the console", { skip }, () => assert.deepEqual(it.complaints, []));
