import { afterEach, expect, it, vi } from "vitest";
import type { ID } from "#base/domain/contracts.ts";
import { arrive } from "./arrival";

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
    if (path.endsWith("/ticket")) return Response.json({ url: `http://${path.split("/")[3]}.localhost/` });
    return Response.json({ mode: "shipped" });
  });
  return asked;
}

const never = () => expect.unreachable("something was opened");

afterEach(() => {
  vi.unstubAllGlobals();
});

it("logs in, lists and asks for the opening one after the other, the token out of the address first", async () => {
  const asked = page("/login#secret");
  const opened: unknown[] = [];
  const { login, computers, opening } = arrive((computer, { url, source }) => opened.push([computer, url, source]));
  await login;
  expect(await computers).toHaveLength(2);
  await opening;
  expect(opened).toEqual([[ONE, `http://${ONE}.localhost/`, { mode: "shipped" }]]);
  expect(asked).toEqual([
    "address /login",
    "POST /auth/login",
    "GET /api/computers",
    `POST /api/computers/${ONE}/ticket`,
    `GET /api/computers/${ONE}/desktop/source`,
  ]);
});

it("opens the computer that the address names", async () => {
  page(`/?computer=${TWO}`);
  const opened: ID[] = [];
  await arrive((computer) => opened.push(computer)).opening;
  expect(opened).toEqual([TWO]);
});

it("asks for no ticket where the desktop is not shown, nor after a refused login", async () => {
  const asked = page("/models");
  await arrive(never).opening;
  expect(asked).toEqual(["GET /api/computers"]);
  const refused = () => Response.json({ status: 401, code: "unauthenticated", detail: "used" }, { status: 401 });
  const tried = page("/login#old", { "/auth/login": refused });
  const { login, computers, opening } = arrive(never);
  await expect(login).rejects.toThrow();
  await expect(computers).rejects.toThrow();
  await opening;
  expect(tried).toEqual(["address /login", "POST /auth/login"]);
});

it("leaves a ticket that is refused to whoever asks again", async () => {
  page("/", {
    [`/api/computers/${ONE}/ticket`]: () => Response.json({ status: 403, code: "denied" }, { status: 403 }),
  });
  const { computers, opening } = arrive(never);
  expect(await computers).toHaveLength(2);
  await opening;
});
