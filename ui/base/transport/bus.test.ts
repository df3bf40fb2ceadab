import { afterEach, expect, it, vi } from "vitest";
import { openLine } from "./bus";

const INFO = `INFO ${JSON.stringify({ server_id: "S", version: "2.12.0", proto: 1, headers: true, max_payload: 1 << 20, nonce: "n" })}\r\n`;
const SEED = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
const grant = { jwt: "j", seed: SEED, inbox: "_INBOX.x", user: "u", computer: "c", lasts_ms: 1e6 };
const hear = { event: () => undefined, live: () => undefined };

/** A server that answers the first ping, which is a part of connecting, and does `then` at the second. */
function serve(then: (socket: Socket) => void) {
  let pings = 0;
  class OneSocket extends Socket {
    override send(data: Uint8Array) {
      for (const _ of new TextDecoder().decode(data).matchAll(/PING\r\n/g)) {
        if (++pings === 1) this.tell("PONG\r\n");
        else then(this);
      }
    }
  }
  vi.stubGlobal("WebSocket", OneSocket);
  vi.stubGlobal("location", { protocol: "http:", host: "choir.localhost" });
}

class Socket {
  binaryType = "";
  readyState = 1;
  onopen?: () => void;
  onmessage?: (m: { data: ArrayBuffer }) => void;
  onclose?: (e: { wasClean: boolean; code: number }) => void;
  constructor() {
    queueMicrotask(() => {
      this.onopen?.();
      this.tell(INFO);
    });
  }
  send(_: Uint8Array) {}
  tell(text: string) {
    const bytes = new TextEncoder().encode(text);
    queueMicrotask(() => this.onmessage?.({ data: bytes.buffer as ArrayBuffer }));
  }
  close() {
    queueMicrotask(() => this.onclose?.({ wasClean: true, code: 1000 }));
  }
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it("opens once the server has answered", async () => {
  serve((socket) => socket.tell("PONG\r\n"));
  const line = await openLine(grant as never, hear);
  expect(line.ended).toBeInstanceOf(Promise);
});

it("does not open when the connection ends before the server has answered", async () => {
  serve((socket) => socket.onclose?.({ wasClean: false, code: 1006 }));
  await expect(openLine(grant as never, hear)).rejects.toThrow();
});

it("does not open when the server does not answer in time", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  serve(() => vi.advanceTimersByTime(10_000));
  await expect(openLine(grant as never, hear)).rejects.toThrow("did not answer");
});
