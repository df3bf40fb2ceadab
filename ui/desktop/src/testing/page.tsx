import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render } from "@testing-library/react";
import type { ComponentType } from "react";
import { vi } from "vitest";
import { showMessages } from "#base/kit/notify.ts";
import { catalogue } from "../apps/bodies";
import { Session, SessionContext } from "../session/session";
import { WindowContext } from "../session/useWindow";
import { useStore } from "../state/store";

const WINDOW = "0198aaaa-0000-7000-8000-000000000001";

/** What the page told the person in messages. */
export const told: string[] = [];

/** Draws a part of the desktop in a window that shows `subject`. */
export function show(Part: ComponentType, subject = "", app = "files") {
  told.length = 0;
  const note = (text: unknown) => told.push(String(text));
  const toast = Object.assign(note, { error: note, success: note, dismiss: () => undefined });
  showMessages(toast as unknown as Parameters<typeof showMessages>[0]);
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false } } });
  const session = new Session(queries, catalogue);
  const bounds = { x: 0, y: 0, width: 800, height: 600 };
  useStore.getState().forget();
  useStore.getState().setKnown([{ id: WINDOW, app, subject, title: "", bounds, state: "normal", focused_seq: 1 }], 1);
  // Nothing has a size here, and a list draws what has room.
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(800);
  render(
    <QueryClientProvider client={queries}>
      <SessionContext value={session}>
        <WindowContext value={WINDOW}>
          <Part />
        </WindowContext>
      </SessionContext>
    </QueryClientProvider>,
  );
  return session;
}

/** Lets so many milliseconds go by for the page, and what follows from that. */
export async function pass(ms = 0): Promise<void> {
  await act(() => vi.advanceTimersByTimeAsync(ms));
}

/** Takes the page away. */
export function clear(): void {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
}
