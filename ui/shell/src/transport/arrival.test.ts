import { afterEach, beforeEach, expect, it, vi } from "vitest";

const ONE = "01a2076f-b898-71c0-b8c7-fdfe04a50ec4";
const TWO = "01a2076f-b898-71c0-b8c7-fdfe04a50ec5";

/** A page at an address, and a server that answers by path; gives what was asked and the address as it became. */
function page(address: string, answers: Record<string, () => Response> = {}) {
  const url = new URL(address, "http://choir.localhost");
  const asked: string[] = [];
  vi.stubGlobal("location", url);
  vi.stubGlobal("history", { replaceState: (_: unknown, __: string, to: string) => asked.push(`address ${to}`) });
  vi.stubGlobal("fetch", async (path: string, { method }: { method: string }) => {
    asked.push(`${method} ${path}`);
    const known: Record<string, () => Response> = {
      "/auth/login": () => new Response(null, { status: 204 }),
      "/api/computers": () => Response.json([{ id: ONE }, { id: TWO }]),
      ...answers,
    };
    const answer = known[path];
    if (answer) return answer();
    if (path.endsWith("/ticket"))
      return Response.json({ url: `http://${path.split("/")[3]}.localhost/${asked.length}` });
    return Response.json({ mode: "shipped" });
  });
  return asked;
}

/** The module as a page that is just loaded has it. */
const fresh = () => import("./arrival");

beforeEach(() => {
  vi.resetModules();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it("logs in, lists and asks for the ticket one after the other, the token out of the address first", async () => {
  const asked = page("/login#secret");
  const { arrive, takeOpening } = await fresh();
  const { login, computers } = arrive();
  await login;
  expect(await computers).toHaveLength(2);
  const { url, source } = await takeOpening(ONE);
  expect(url).toContain(ONE);
  expect(source).toEqual({ mode: "shipped" });
  expect(asked).toEqual([
    "address /login",
    "POST /auth/login",
    "GET /api/computers",
    `POST /api/computers/${ONE}/ticket`,
    `GET /api/computers/${ONE}/desktop/source`,
  ]);
});

it("uses a ticket once, for its own computer, and while it is good", async () => {
  vi.useFakeTimers();
  page(`/?computer=${TWO}`);
  const { arrive, takeOpening } = await fresh();
  await arrive().computers;
  const first = await takeOpening(TWO);
  expect(first.url).toContain(TWO);
  expect((await takeOpening(TWO)).url).not.toBe(first.url);
  const other = await fresh();
  await other.arrive().computers;
  expect((await other.takeOpening(ONE)).url).toContain(ONE);
  await other.arrive().computers;
  await vi.advanceTimersByTimeAsync(25_000);
  const asked = page("/");
  await other.takeOpening(TWO);
  expect(asked).toContain(`POST /api/computers/${TWO}/ticket`);
});

it("asks for no ticket where the desktop is not shown, nor after a refused login", async () => {
  const asked = page("/models");
  const { arrive } = await fresh();
  await arrive().computers;
  expect(asked).toEqual(["GET /api/computers"]);
  const refused = () => Response.json({ status: 401, code: "unauthenticated", detail: "used" }, { status: 401 });
  const tried = page("/login#old", { "/auth/login": refused });
  const { login, computers } = arrive();
  await expect(login).rejects.toThrow();
  await expect(computers).rejects.toThrow();
  expect(tried).toEqual(["address /login", "POST /auth/login"]);
});

it("says that there was no ticket to whoever takes it", async () => {
  page("/", {
    [`/api/computers/${ONE}/ticket`]: () => Response.json({ status: 403, code: "denied" }, { status: 403 }),
  });
  const { arrive, takeOpening } = await fresh();
  await arrive().computers;
  await expect(takeOpening(ONE)).rejects.toThrow();
});
