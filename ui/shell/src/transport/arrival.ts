import type { ID } from "#base/domain/contracts.ts";
import type { Computer } from "#base/domain/views.ts";
import { readComputer, readRoute } from "../domain/route";
import type { Source } from "../domain/source";
import { computerAPI, listComputers, login } from "./api";

/** How long a ticket is used that was asked for early, in milliseconds: it is good for 30 seconds. */
const FRESH_MS = 20_000;

/** All that a frame with the desktop needs to begin. */
export interface Opening {
  /** The frame's address, with a ticket that works once. */
  url: string;
  /** The server of the desktop's page; undefined when the control plane did not say. */
  source: Source | undefined;
}

/** The requests of a page that is only just loaded; each is begun once its answer can be asked for. */
export interface Arrival {
  /** The login with the token of the address; undefined for an address without a token. */
  login: Promise<void> | undefined;
  /** The computers of whoever is logged in; fails as the login does. */
  computers: Promise<Computer[]>;
  /** Resolves once the desktop's opening has come, failed, or is not asked for. */
  opening: Promise<void>;
}

/** The opening that was asked for before the page was drawn. */
let early: { computer: ID; until: number; opening: Promise<Opening> } | undefined;

/**
 * Logs in, lists the computers and asks for the desktop's ticket while the page's
 * own script is still on its way: none of these requests needs what is drawn.
 */
export function arrive(): Arrival {
  const token = location.pathname === "/login" ? location.hash.slice(1) : "";
  // The token is taken out of the address and the history at once.
  if (token) history.replaceState(null, "", "/login");
  const entered = token ? login(token) : undefined;
  const computers = entered ? entered.then(listComputers) : listComputers();
  const { page } = readRoute(location.pathname);
  const wanted = token ? undefined : readComputer(location.search);
  const opened = computers.then((all) => (page === "desktop" || token ? openEarly(all, wanted) : undefined));
  const opening = opened.then(
    () => undefined,
    () => undefined, // said where the login, the list or the opening is used
  );
  return { login: entered, computers, opening };
}

/** The computer that an address is about: the one it names, else the first. */
export function chosenOf(computers: readonly Computer[], wanted: ID | undefined): Computer | undefined {
  return wanted ? computers.find((c) => c.id === wanted) : computers[0];
}

async function openEarly(computers: readonly Computer[], wanted: ID | undefined): Promise<void> {
  const computer = chosenOf(computers, wanted)?.id;
  if (!computer) return;
  const opening = askOpening(computer);
  early = { computer, until: performance.now() + FRESH_MS, opening };
  await opening;
}

/** Asks for a frame's ticket and the source behind it, both at once. Fails when there is no ticket. */
async function askOpening(computer: ID): Promise<Opening> {
  const api = computerAPI(computer);
  const [{ url }, source] = await Promise.all([api.ticket(), api.source().catch(() => undefined)]);
  return { url, source };
}

/** Gives the opening that was asked for early, to the first caller and while its ticket is good; else a new one. */
export function takeOpening(computer: ID): Promise<Opening> {
  const found = early;
  early = undefined;
  if (found?.computer === computer && performance.now() < found.until) return found.opening;
  return askOpening(computer);
}
