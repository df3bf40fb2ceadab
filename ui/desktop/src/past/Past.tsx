import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Time } from "#base/domain/contracts.ts";
import { isAskedAgain } from "#base/domain/problem.ts";
import { runsThen } from "#base/domain/runs.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { catalogue } from "../apps/bodies";
import { Session, SessionContext } from "../session/session";
import { useLook } from "../session/useLook";
import { Bar } from "../shell/Bar";
import { Stage } from "../shell/Stage";
import { useArea } from "../shell/useArea";
import { useStore } from "../state/store";
import { api } from "../transport/api";
import { lookAt } from "../transport/asof";
import { desk } from "../transport/desk";
import { hearShell, tellShell } from "../transport/shell";
import "../shell/desk.css";

const queries = new QueryClient({ defaultOptions: { queries: { retry: isAskedAgain, refetchOnWindowFocus: false } } });
const session = new Session(queries, catalogue);

/** The desktop as it was at the moment that the shell looks at; it can only be looked at. */
export default function Past() {
  const shown = useMoment();
  return (
    <QueryClientProvider client={queries}>
      <SessionContext value={session}>{shown > 0 && <Picture key={shown} seq={shown} />}</SessionContext>
    </QueryClientProvider>
  );
}

/** Windows and bar, drawn anew for each moment. */
function Picture({ seq }: { seq: number }) {
  const area = useRef<HTMLDivElement>(null);
  useLook();
  useStill();
  useArea(area);
  return (
    <main className="desk" inert data-moment={seq}>
      <div className="desk-area" ref={area}>
        <Stage />
      </div>
      <Bar />
    </main>
  );
}

/** Nothing moves in a picture. */
function useStill(): void {
  useEffect(() => {
    document.documentElement.dataset.motion = "reduced";
  });
}

/** The moment that is known and drawn; the one the shell asked for last wins. */
function useMoment(): number {
  const [shown, setShown] = useState(0);
  useEffect(() => {
    let wanted = 0;
    const look = async (seq: number, at: Time) => {
      wanted = seq;
      lookAt(seq);
      try {
        const [state, runs] = await Promise.all([desk.state(), api.runs()]);
        if (wanted !== seq) return;
        session.show(state);
        useStore.getState().setRuns(runsThen(runs, seq, at));
        setShown(seq);
      } catch {
        // The shell lists what was there in words.
        if (wanted === seq) setShown(0);
      }
    };
    const unsubscribe = hearShell((m) => m.kind === "moment" && unawaited(look(m.seq, m.at)));
    tellShell({ kind: "ready" });
    return unsubscribe;
  }, []);
  return shown;
}
