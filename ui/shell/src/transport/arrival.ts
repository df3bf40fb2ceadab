import type { ID } from "#base/domain/contracts.ts";
import type { Computer } from "#base/domain/views.ts";
import { readComputer, readRoute } from "../domain/route";
import { listComputers, login } from "./api";
import { askOpening, type Opening } from "./opening";

/** The requests of a page that is only just loaded; each is begun once its answer can be asked for. */
export interface Arrival {
  /** The login with the token of the address; undefined for an address without a token. */
  login: Promise<void> | undefined;
  /** Logs in with that token once more; undefined as well. */
  loginAgain: (() => Promise<void>) | undefined;
  /** The computers of whoever is logged in; fails as the login does. */
  computers: Promise<Computer[]>;
  /** Resolves once the desktop's opening has come, failed, or is not asked for. */
  opening: Promise<void>;
}

/**
 * Logs in, lists the computers and asks for the opening of the desktop, which `open`
 * gets, while the page's own script is still on its way: none of these requests needs
 * a page that is drawn.
 */
export function arrive(open: (computer: ID, opening: Opening) => void): Arrival {
  const token = location.pathname === "/login" ? location.hash.slice(1) : "";
  // The token is taken out of the address and the history at once.
  if (token) history.replaceState(null, "", "/login");
  const redeemLink = token ? () => login(token) : undefined;
  const entered = redeemLink?.();
  const computers = entered ? entered.then(listComputers) : listComputers();
  const { page } = readRoute(location.pathname);
  const wanted = token ? undefined : readComputer(location.search);
  const openFirst = async () => {
    const computer = chosenOf(await computers, wanted)?.id;
    if (computer && (page === "desktop" || token)) open(computer, await askOpening(computer));
  };
  // What fails is told by whoever uses the login or the list, or asks for an opening again.
  const opening = openFirst().catch(() => undefined);
  return { login: entered, loginAgain: redeemLink, computers, opening };
}

/** The computer that an address is about: the one it names, else the first. */
export function chosenOf(computers: readonly Computer[], wanted: ID | undefined): Computer | undefined {
  return wanted ? computers.find((c) => c.id === wanted) : computers[0];
}
