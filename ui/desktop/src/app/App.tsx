import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { explain, isAskedAgain } from "#base/domain/problem.ts";
import { catalogue } from "../apps/bodies";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { Failed, Loading } from "../kit/States";
import { useLate } from "../kit/useLate";
import { Session, SessionContext } from "../session/session";
import { Desk } from "../shell/Desk";
import { type DesktopState, desk } from "../transport/desk";

const queries = new QueryClient({ defaultOptions: { queries: { retry: isAskedAgain, refetchOnWindowFocus: false } } });

/** Nothing, until that is longer than people wait. */
function Waiting() {
  const late = useLate();
  if (!late) return null;
  return (
    <main className="page-failed">
      <Loading late />
    </main>
  );
}

/** The whole page: nothing until the desktop is known, then all of it at once. */
export function App({ first }: { first: Promise<DesktopState> }) {
  const [session, setSession] = useState<Session>();
  const [failed, setFailed] = useState<unknown>();
  const t = useWords(deskWords);
  const open = useCallback((state: Promise<DesktopState>) => {
    state.then(
      (known) => {
        const made = new Session(queries, catalogue);
        made.start(known);
        setFailed(undefined);
        setSession(made);
      },
      (error) => setFailed(error ?? true),
    );
  }, []);
  useEffect(() => open(first), [open, first]);
  useEffect(() => () => session?.stop(), [session]);
  if (failed) {
    const { title, remedy } = explain(failed);
    return (
      <main className="page-failed">
        <Failed
          title={t("notOpened")}
          why={[title, remedy].filter(Boolean).join(": ")}
          again={t("tryAgain")}
          onAgain={() => open(desk.state())}
        />
      </main>
    );
  }
  if (!session) return <Waiting />;
  return (
    <QueryClientProvider client={queries}>
      <SessionContext value={session}>
        <Desk />
      </SessionContext>
    </QueryClientProvider>
  );
}
