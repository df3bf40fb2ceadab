// Sessions that are got without a browser, for one that keeps no cookies of ours.
import { once } from "node:events";
import { request } from "node:http";
import { within } from "./limits.js";

/** Asks as a page on a host would: names below localhost are this machine's. */
async function call(address, method, { cookie, body } = {}) {
  const url = new URL(address);
  const asked = request({
    host: "127.0.0.1",
    port: url.port,
    method,
    path: url.pathname + url.search,
    headers: {
      Host: url.host,
      Origin: url.origin,
      "Content-Type": "application/json",
      ...(cookie && { Cookie: `${cookie.name}=${cookie.value}` }),
    },
  });
  asked.end(body && JSON.stringify(body));
  const [answer] = await within(once(asked, "response"), `an answer to ${method} ${address}`);
  const parts = [];
  for await (const part of answer) parts.push(part);
  const [name, value] = answer.headers["set-cookie"]?.[0].split(";")[0].split("=") ?? [];
  return { text: Buffer.concat(parts).toString(), cookie: name && { name, value } };
}

/** The cookies of a shell that has just logged in and of the desktop it opened, each with its origin. */
export async function sessions(choir) {
  const token = new URL(await choir.link()).hash.slice(1);
  const { cookie } = await call(`${choir.address}/auth/login`, "POST", { body: { token } });
  const [computer] = JSON.parse((await call(`${choir.address}/api/computers`, "GET", { cookie })).text);
  const ticket = await call(`${choir.address}/api/computers/${computer.id}/ticket`, "POST", { cookie });
  const { url } = JSON.parse(ticket.text);
  const entered = await call(url, "GET");
  return [
    { origin: choir.address, cookie },
    { origin: new URL(url).origin, cookie: entered.cookie },
  ];
}
