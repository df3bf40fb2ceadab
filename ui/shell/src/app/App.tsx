import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { explain, isAskedAgain, Refusal } from "#base/domain/problem.ts";
import type { Computer } from "#base/domain/views.ts";
import { Button } from "#base/kit/Button.tsx";
import { useLanguage } from "#base/kit/language.ts";
import { Messages } from "#base/kit/Messages.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { readComputer } from "../domain/route";
import { dropFrame } from "../frame/early";
import { Session, SessionContext } from "../session/session";
import { useStore } from "../state/store";
import { isLoggedIn, listComputers } from "../transport/api";
import { type Arrival, chosenOf } from "../transport/arrival";
import { t } from "../words/words";
import { Desk } from "./Desk";
import "#base/kit/toast.css";

// Seen once by whoever comes with a link.
const Login = lazy(() => import("../apps/login/Login"));

const queries = new QueryClient({ defaultOptions: { queries: { retry: isAskedAgain, refetchOnWindowFocus: false } } });

/** The desktop's bar, with its workspaces and its clock, stays free; so does the prompt of the page of runs. */
const ABOVE = { bottom: 84, right: 16 };

type Stage =
  | { is: "opening" }
  | { is: "login"; unkept?: boolean; refused?: unknown; loggedIn?: boolean }
  | { is: "failed"; why: string; again?: () => Promise<void> }
  | { is: "open"; session: Session };

/** The requests that a computer is opened with. */
type Asked = Pick<Arrival, "login" | "loginAgain" | "computers">;

/** The whole page: log in, open the computer, work. `arrival` holds the requests that it began with. */
export function App({ arrival }: { arrival: Arrival }) {
  const [stage, setStage] = useState<Stage>({ is: "opening" });
  // The whole page is drawn anew in another language.
  const language = useLanguage();
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const page = useStore((s) => s.route.page);
  const open = useCallback(({ login, loginAgain, computers }: Asked) => {
    const justLoggedIn = login !== undefined;
    const fail = (error: unknown) => setStage(stageOf(error, justLoggedIn));
    const showSession = () => {
      // The page of the login has done its work.
      if (justLoggedIn) history.replaceState(null, "", "/");
      if (justLoggedIn) useStore.getState().setRoute({ page: "desktop" });
      openSession(computers, fail).then(setStage, fail);
    };
    const showRefused = async (refused: unknown) => {
      // No answer says nothing about the link: it is tried again, and not told to be refused.
      if (loginAgain && isUnanswered(refused)) setStage({ ...failedBy(refused), again: loginAgain });
      else setStage({ is: "login", refused, loggedIn: await isLoggedIn() });
    };
    if (login) login.then(showSession, showRefused);
    else showSession();
  }, []);
  useEffect(() => open(arrival), [open, arrival]);
  // The desktop is in the page with its own page only.
  const early = stage.is === "opening" || (stage.is === "open" && page === "desktop");
  useEffect(() => {
    if (!early) dropFrame();
  }, [early]);
  const again = (loginAgain?: () => Promise<void>) => {
    setStage({ is: "opening" });
    const login = loginAgain?.();
    open({ login, loginAgain, computers: login ? login.then(listComputers) : listComputers() });
  };
  return (
    <QueryClientProvider client={queries}>
      {stage.is === "open" && (
        <SessionContext value={stage.session}>
          <Desk key={page === "login" ? "login" : "desk"} />
        </SessionContext>
      )}
      {stage.is === "login" && (
        <Suspense>
          <Login unkept={stage.unkept} refused={stage.refused} loggedIn={stage.loggedIn} />
        </Suspense>
      )}
      {stage.is === "failed" && <Failed why={stage.why} onRetry={() => again(stage.again)} />}
      <Messages
        position="bottom-right"
        closeButton
        offset={ABOVE}
        mobileOffset={{ bottom: 168 }}
        containerAriaLabel={t("page.messages")}
      />
    </QueryClientProvider>
  );
}

/** Opens the computer that the address says; `onFail` hears of what fails once it is open. */
async function openSession(listed: Promise<Computer[]>, onFail: (error: unknown) => void): Promise<Stage> {
  const computers = await listed;
  const computer = chosenOf(computers, readComputer(location.search));
  if (!computer) return { is: "failed", why: t("page.noComputer") };
  queries.setQueryData(["computers"], computers);
  const session = new Session(computer, queries, computer === computers[0]);
  const started = session.start(computer.head);
  const { route } = useStore.getState();
  if (route.page === "login") session.go({ page: "desktop" });
  // The desktop needs nothing of what the shell's own pages show.
  if (route.page === "login" || route.page === "desktop") started.catch(onFail);
  else await started;
  if (route.page === "run") unawaited(session.read(route.run));
  return { is: "open", session };
}

/** Whoever has just logged in and is not known has a browser that did not keep the cookie. */
function stageOf(error: unknown, justLoggedIn: boolean): Stage {
  if (error instanceof Refusal && error.problem.code === "unauthenticated")
    return { is: "login", unkept: justLoggedIn };
  return failedBy(error);
}

/** No answer came, or none that says anything. */
function isUnanswered(error: unknown): boolean {
  return error instanceof Refusal && error.problem.status === 0;
}

function failedBy(error: unknown): Stage & { is: "failed" } {
  if (!(error instanceof Error)) return { is: "failed", why: t("page.notOpened") };
  const { title, remedy } = explain(error);
  return { is: "failed", why: remedy ? `${title}: ${remedy}` : title };
}

function Failed({ why, onRetry }: { why: string; onRetry(): void }) {
  return (
    <main className="login">
      <h1>{t("page.notOpenedTitle")}</h1>
      <p role="alert">{why}</p>
      <Button look="primary" onClick={onRetry}>
        {t("page.tryAgain")}
      </Button>
    </main>
  );
}
