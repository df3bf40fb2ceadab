import { expect, test } from "vitest";
import type { End } from "../../transport/terminals";
import { words } from "./i18n";
import { DIAL_MS, Link, type LinkParts, type LinkState, type Note, type Wire } from "./link";

class FakeWire implements Wire {
  binaryType: BinaryType = "blob";
  readyState = 0;
  onopen: Wire["onopen"] = null;
  onmessage: Wire["onmessage"] = null;
  onclose: Wire["onclose"] = null;
  readonly said: Record<string, unknown>[] = [];
  typed = 0;
  readonly after: number;
  constructor(after: number) {
    this.after = after;
  }
  send(data: string | Uint8Array): void {
    if (typeof data === "string") this.said.push(JSON.parse(data));
    else this.typed += data.length;
  }
  close(): void {
    this.readyState = 3;
  }
  open(): void {
    this.readyState = 1;
    this.onopen?.(new Event("open"));
  }
  note(note: Note): void {
    this.onmessage?.({ data: JSON.stringify(note) } as MessageEvent);
  }
  output(text: string): void {
    this.onmessage?.({ data: new TextEncoder().encode(text).buffer } as MessageEvent);
  }
  end(code: number): void {
    this.readyState = 3;
    this.onclose?.({ code } as CloseEvent);
  }
}

function lab(exists: () => Promise<boolean> = async () => true) {
  const wires: FakeWire[] = [];
  const states: LinkState[] = [];
  const shown: string[] = [];
  const ends: End[] = [];
  const waits: number[] = [];
  let later: (() => void) | undefined;
  let lost = 0;
  let tooFast = 0;
  const parts: LinkParts = {
    dial: (after) => {
      const wire = new FakeWire(after);
      wires.push(wire);
      return wire;
    },
    exists,
    onOutput: (bytes, old, done) => {
      shown.push(`${old ? "old" : "new"}:${new TextDecoder().decode(bytes)}`);
      done();
    },
    onLost: (n) => {
      lost += n;
    },
    onStatus: () => {},
    onState: (s) => states.push(s),
    onEnd: (e) => ends.push(e),
    onTooFast: () => tooFast++,
    later: (run, ms) => {
      if (ms !== DIAL_MS) waits.push(ms);
      later = run;
      return () => {};
    },
    chance: () => 0,
  };
  const link = new Link(parts);
  link.connect();
  const wire = () => wires.at(-1) as FakeWire;
  const tick = async () => {
    later?.();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { link, wire, wires, states, shown, ends, waits, tick, count: () => ({ lost, tooFast }) };
}

test("what was printed before the socket came is told apart from what is new", () => {
  const { wire, shown } = lab();
  wire().open();
  wire().note({ output: { from: 0, head: 5 } });
  wire().output("hello world");
  expect(shown).toEqual(["old:hello", "new: world"]);
  expect(wire().said.at(-1)).toEqual({ ack: 11 });
});

test("it comes back with the offset it has, later and later", async () => {
  const { wire, wires, states, waits, tick } = lab();
  wire().open();
  wire().note({ output: { from: 0, head: 0 } });
  wire().output("abc");
  wire().end(1006);
  await tick();
  wire().end(1006);
  await tick();
  wire().open();
  expect(wires.map((w) => w.after)).toEqual([0, 3, 3]);
  expect(waits).toEqual([500, 1000]);
  expect(states.at(-1)).toBe("live");
});

test("one that was cut off comes back at once, and is told what it missed", async () => {
  const { wire, waits, tick, count } = lab();
  wire().open();
  wire().end(4001);
  await tick();
  expect(waits).toEqual([0]);
  wire().open();
  wire().note({ output: { from: 100, lost: 100, head: 200 } });
  expect(count().lost).toBe(100);
});

test("a socket that never opens is given up, and another one is tried", async () => {
  const { wires, states, waits, tick } = lab();
  await tick();
  expect(wires[0]?.readyState).toBe(3);
  expect(states.at(-1)).toBe("lost");
  expect(waits).toEqual([500]);
  await tick();
  wires[1]?.open();
  expect(states.at(-1)).toBe("live");
});

test("a line with something else than choir at its end is given up", () => {
  for (const said of ["<h1>Bad gateway</h1>", "null", "7"]) {
    const { wire, states, waits } = lab();
    wire().open();
    wire().onmessage?.({ data: said } as MessageEvent);
    expect(wire().readyState).toBe(3);
    expect(states.at(-1)).toBe("lost");
    expect(waits).toEqual([500]);
  }
});

test("what is typed waits for the program, and for the connection", () => {
  const { link, wire, count } = lab();
  link.type(new Uint8Array(1 << 20));
  expect(wire().typed).toBe(0);
  wire().open();
  const ahead = wire().typed;
  expect(ahead).toBeLessThan(300_000);
  wire().note({ taken: ahead });
  expect(wire().typed).toBeGreaterThan(ahead);
  link.type(new Uint8Array(64 << 20));
  expect(count().tooFast).toBe(1);
});

test("a terminal that is gone ends, with its reason when that is known", async () => {
  const known = lab();
  known.wire().open();
  known.wire().note({ end: { reason: "exited", code: 7 } });
  known.wire().end(4000);
  expect(known.ends).toEqual([{ reason: "exited", code: 7 }]);
  const unknown = lab(async () => false);
  unknown.wire().end(1006);
  await unknown.tick();
  expect(unknown.ends).toEqual([{ reason: "lost", code: -1 }]);
});

test("while the line is lost nothing is said to run on: what cut it may have ended that too", () => {
  expect(words.en.lost).not.toMatch(/goes on|runs/);
  expect(words.de.lost).not.toMatch(/läuft/);
});
