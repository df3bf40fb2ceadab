import { beforeEach, expect, it } from "vitest";
import { Refusal } from "#base/domain/problem.ts";
import type { Clock } from "../domain/pace";
import type { Held, Shelf } from "../transport/shelf";
import { Drafts, type Typed } from "./drafts";

type Server = ConstructorParameters<typeof Drafts>[0];
type Row = Typed & { revision: number };

/** The server's own rules, for the pages of one test. */
class Stand {
  rows = new Map<string, Row>();
  revision = 0;
  pages: Page[] = [];
  away = false;
  asked: string[] = [];

  private refuse(problem: Partial<Refusal["problem"]>): never {
    throw new Refusal({ status: 409, code: "conflict", detail: "no", ...problem });
  }

  private tell(subject: string, revision: number): void {
    for (const page of this.pages) page.drafts.hear({ app: "code", subject, revision });
  }

  private must(subject: string, revision: number): void {
    if (this.away) this.refuse({ status: 0, code: "unavailable" });
    const there = this.rows.get(subject);
    if ((there?.revision ?? 0) !== revision) this.refuse(there ? { draft: there } : {});
  }

  api: Server = {
    list: async () => [],
    read: async (app, subject) => {
      if (this.away) this.refuse({ status: 0, code: "unavailable" });
      const row = this.rows.get(subject) ?? { revision: 0, text: "", base: "" };
      return { app, subject, size: row.text.length, at: "" as never, ...row };
    },
    write: async (app, subject, { text, base, made }) => {
      this.asked.push(text);
      this.must(subject, made);
      const row = { text, base, revision: ++this.revision };
      this.rows.set(subject, row);
      this.tell(subject, row.revision);
      return { app, subject, size: text.length, at: "" as never, revision: row.revision };
    },
    drop: async (_, subject, revision) => {
      if (!this.rows.has(subject)) return;
      this.must(subject, revision);
      this.rows.delete(subject);
      this.tell(subject, 0);
    },
  };
}

/** A page with one editor, which shows what it is told. */
class Page {
  timers: (() => void)[] = [];
  time = 0;
  text: string | undefined;
  clashed: string | undefined;
  problems: unknown[] = [];
  drafts: Drafts;
  readonly shelf: Map<string, Held>;

  /** With a shelf it is the page that comes in the same tab after a reload. */
  constructor(stand: Stand, shelf = new Map<string, Held>()) {
    this.shelf = shelf;
    const clock: Clock = {
      now: () => this.time,
      after: (_, then) => {
        this.timers.push(then);
        return () => {
          this.timers.splice(this.timers.indexOf(then), 1);
        };
      },
    };
    const tab: Shelf = {
      all: () => [...shelf.values()],
      put: (held) => {
        shelf.set(held.subject, structuredClone(held));
      },
      remove: (_, subject) => {
        shelf.delete(subject);
      },
    };
    this.drafts = new Drafts(stand.api, clock, tab, (problem) => this.problems.push(problem));
    stand.pages.push(this);
  }

  async open(): Promise<() => void> {
    const { read, unwatch } = this.drafts.watch("code", "a", {
      changed: (now) => {
        this.text = now?.text;
      },
      clashed: (theirs) => {
        this.clashed = theirs.text;
      },
    });
    this.text = (await read)?.text;
    return unwatch;
  }

  type(text: string): void {
    this.text = text;
    this.drafts.keep("code", "a", { text, base: "1" }, "file");
  }

  /** Lets time go by until nothing waits. */
  async rest(): Promise<void> {
    for (let i = 0; i < 20; i++) {
      await new Promise((done) => setTimeout(done));
      this.time += 10_000;
      const [next] = this.timers.splice(0, 1);
      next?.();
    }
  }
}

let stand: Stand;
let here: Page;
let there: Page;
const rest = async () => {
  await here.rest();
  await there.rest();
  await here.rest();
};

beforeEach(async () => {
  stand = new Stand();
  here = new Page(stand);
  there = new Page(stand);
  await here.open();
  await there.open();
});

it("is what was typed last, here and in the other browser, and in one that comes later", async () => {
  here.type("one");
  here.type("one two");
  await rest();
  expect(there.text).toBe("one two");
  there.type("one two three");
  await rest();
  expect(here.text).toBe("one two three");
  const third = new Page(stand);
  await third.open();
  expect(third.text).toBe("one two three");
});

it("is gone everywhere once it was saved or discarded", async () => {
  here.type("one");
  await rest();
  there.drafts.drop("code", "a");
  await rest();
  expect(here.text).toBeUndefined();
  expect(stand.rows.size).toBe(0);
  here.type("anew");
  await rest();
  expect(there.text).toBe("anew");
});

it("goes on being sent when its window is gone", async () => {
  const unwatch = await here.open();
  here.type("one");
  here.type("the last words");
  unwatch();
  await rest();
  expect(stand.rows.get("a")?.text).toBe("the last words");
});

it("keeps both when two browsers type in different places at once", async () => {
  here.type("first second");
  await rest();
  here.type("FIRST second");
  there.type("first SECOND");
  await rest();
  expect([here.text, there.text, stand.rows.get("a")?.text]).toEqual(Array(3).fill("FIRST SECOND"));
});

it("asks when two browsers typed in the same place, and sends nothing until it is decided", async () => {
  here.type("mine");
  there.type("theirs");
  await rest();
  const [winner, asked] = here.clashed ? [there, here] : [here, there];
  expect(asked.clashed).toBe(winner.text);
  const sent = stand.asked.length;
  asked.type(`${asked.text}!`);
  await rest();
  expect(stand.asked.length).toBe(sent);
  asked.drafts.decide("code", "a");
  await rest();
  expect(winner.text).toBe(asked.text);
});

it("does not lose what is typed while the other browser saves or discards", async () => {
  here.type("one");
  await rest();
  stand.pages = [there];
  there.drafts.drop("code", "a");
  await there.rest();
  here.type("one, and more");
  await rest();
  expect(stand.rows.get("a")?.text).toBe("one, and more");
});

it("shows what the other browser typed on after it was saved here", async () => {
  here.type("one");
  await rest();
  stand.pages = [];
  there.type("one, and more");
  await there.rest();
  here.drafts.drop("code", "a");
  await rest();
  expect(here.text).toBe("one, and more");
  expect(stand.rows.get("a")?.text).toBe("one, and more");
});

it("is sent once the computer is back", async () => {
  stand.away = true;
  here.type("one");
  await here.rest();
  expect(here.drafts.lastWords(), "the browser has to ask").toBe(false);
  stand.away = false;
  await rest();
  expect(stand.rows.get("a")?.text).toBe("one");
  expect(here.drafts.lastWords()).toBe(true);
});

it("sends its last words while the page is left, when they fit", async () => {
  here.type("one");
  await here.rest();
  here.time += 1;
  here.type("one two");
  expect(here.drafts.lastWords()).toBe(true);
  await rest();
  expect(stand.rows.get("a")?.text).toBe("one two");
  here.type("x".repeat(1 << 20));
  here.type("y".repeat(1 << 20));
  expect(here.drafts.lastWords()).toBe(false);
});

it("without what it was made of, keeps what was typed last", async () => {
  here.drafts.keep("code", "p", { text: "here", base: "" });
  await here.rest();
  there.drafts.keep("code", "p", { text: "there", base: "" });
  await there.rest();
  expect(stand.rows.get("p")?.text).toBe("there");
});

it("drops what the other browser kept once more without typing anything", async () => {
  here.type("one");
  await rest();
  stand.pages = [];
  there.drafts.keep("code", "a", { text: "one", base: "2" }, "file");
  await there.rest();
  here.drafts.drop("code", "a");
  await rest();
  expect(stand.rows.size).toBe(0);
});

it("is dropped though an answer from before the last send comes late", async () => {
  here.type("one");
  await rest();
  // Something is told of the draft, which is read; the answer is under way.
  let arrive = () => {};
  const { read } = stand.api;
  stand.api.read = async (...of) => {
    const old = await read(...of);
    await new Promise<void>((go) => {
      arrive = go;
    });
    return old;
  };
  here.drafts.again();
  await new Promise((done) => setTimeout(done));
  stand.api.read = read;
  here.type("one two");
  await rest();
  arrive();
  await rest();
  here.drafts.drop("code", "a");
  await rest();
  expect(stand.rows.size).toBe(0);
});

/** Holds the next write up on its way to the server; gives what lets it go on. */
function holdWrite(): () => void {
  const { write } = stand.api;
  let go = () => {};
  const gate = new Promise<void>((open) => {
    go = open;
  });
  stand.api.write = async (...of) => {
    stand.api.write = write;
    await gate;
    return write(...of);
  };
  return go;
}

it("leaves what the other browser typed while the save of this one was under way", async () => {
  here.type("one");
  await rest();
  stand.pages = [];
  const go = holdWrite();
  here.type("one, saved");
  await here.rest();
  there.type("one, and more");
  await there.rest();
  here.drafts.drop("code", "a");
  go();
  await rest();
  expect(stand.rows.get("a")?.text).toBe("one, and more");
  expect(here.text).toBe("one, and more");
});

it("discards its own side of a clash only", async () => {
  here.type("mine");
  there.type("theirs");
  await rest();
  const [winner, asked] = here.clashed ? [there, here] : [here, there];
  asked.drafts.drop("code", "a");
  await rest();
  expect(stand.rows.get("a")?.text).toBe(winner.text);
  expect(asked.text).toBe(winner.text);
});

it("has the browser ask when what is discarded may still be on its way", async () => {
  const go = holdWrite();
  here.type("one");
  await here.rest();
  here.drafts.drop("code", "a");
  expect(here.drafts.lastWords()).toBe(false);
  go();
  await rest();
  expect(stand.rows.size).toBe(0);
  expect(here.drafts.lastWords()).toBe(true);
});

it("is dropped also by whoever watches it without hearing of it", async () => {
  const { read } = here.drafts.watch("code", "p");
  await read;
  here.drafts.keep("code", "p", { text: "a prompt", base: "" });
  await rest();
  here.drafts.drop("code", "p");
  await rest();
  expect(stand.rows.size).toBe(0);
});

it("leaves alone what another browser types, when its own text is saved or nothing was typed here", async () => {
  const looking = new Page(stand);
  await looking.open();
  here.drafts.keep("code", "a", { text: "mine", base: "5" });
  await rest();
  there.drafts.keep("code", "a", { text: "theirs", base: "5" });
  await rest();
  here.drafts.drop("code", "a", "mine");
  looking.drafts.drop("code", "a", "saved");
  await rest();
  await looking.rest();
  expect(stand.rows.get("a")?.text).toBe("theirs");
  there.drafts.drop("code", "a", "theirs and more");
  await rest();
  expect(stand.rows.size).toBe(0);
});

it("is dropped by the page that saved what was left there", async () => {
  stand.rows.set("left", { text: "left", base: "5", revision: ++stand.revision });
  await here.drafts.watch("code", "left").read;
  here.drafts.drop("code", "left", "left");
  await rest();
  expect(stand.rows.size).toBe(0);
});

it("is sent at most once in each pause while the computer cannot be reached, and at once when it can", async () => {
  const answered = () => new Promise((done) => setTimeout(done));
  stand.away = true;
  for (const text of ["a", "ab", "abc"]) {
    here.type(text);
    await answered();
    here.time += 400;
  }
  expect(stand.asked).toEqual(["a"]);
  stand.away = false;
  here.drafts.again();
  await answered();
  expect(stand.asked).toEqual(["a", "abc"]);
  expect(stand.rows.get("a")?.text).toBe("abc");
  expect(here.problems).toEqual([]);
});

/** The page that comes when this one is loaded anew. */
function reloaded(stand: Stand, page: Page): Page {
  stand.pages.splice(stand.pages.indexOf(page), 1);
  return new Page(stand, page.shelf);
}

it("holds what is typed while the computer is away, so that a reload goes on with it", async () => {
  const stand = new Stand();
  const page = new Page(stand);
  await page.open();
  page.type("one");
  await page.rest();
  expect(page.shelf.size).toBe(0);
  stand.away = true;
  page.type("one two");
  await page.rest();
  page.type("one two three");
  expect([...page.shelf.values()].map((held) => held.text)).toEqual(["one two three"]);
  stand.away = false;
  const next = reloaded(stand, page);
  await next.open();
  expect(next.text).toBe("one two three");
  await next.rest();
  expect(stand.rows.get("a")?.text).toBe("one two three");
  expect(next.shelf.size).toBe(0);
});

it("sends what is held though nobody shows it, and merges it with what another browser typed meanwhile", async () => {
  const stand = new Stand();
  const page = new Page(stand);
  await page.open();
  page.type("one\ntwo\n");
  await page.rest();
  stand.away = true;
  page.type("one!\ntwo\n");
  await page.rest();
  stand.away = false;
  stand.rows.set("a", { text: "one\ntwo!\n", base: "1", revision: ++stand.revision });
  const next = reloaded(stand, page);
  await next.rest();
  expect(stand.rows.get("a")?.text).toBe("one!\ntwo!\n");
  expect(next.shelf.size).toBe(0);
});

it("holds nothing that the server has though its answer did not arrive", async () => {
  const stand = new Stand();
  const page = new Page(stand);
  await page.open();
  stand.away = true;
  page.type("one");
  await page.rest();
  stand.away = false;
  stand.rows.set("a", { text: "one", base: "1", revision: ++stand.revision });
  const next = reloaded(stand, page);
  await next.rest();
  expect(next.shelf.size).toBe(0);
  expect(stand.rows.get("a")?.text).toBe("one");
});

it("holds nothing of what was discarded", async () => {
  const stand = new Stand();
  const page = new Page(stand);
  await page.open();
  stand.away = true;
  page.type("one");
  await page.rest();
  page.drafts.drop("code", "a");
  expect(page.shelf.size).toBe(0);
  await page.rest();
  expect(page.shelf.size).toBe(0);
});

it("tells whoever types in a held text that it clashed before anybody showed it", async () => {
  const stand = new Stand();
  const page = new Page(stand);
  await page.open();
  page.type("one");
  await page.rest();
  stand.away = true;
  page.type("one of mine");
  await page.rest();
  stand.away = false;
  stand.rows.set("a", { text: "one of theirs", base: "1", revision: ++stand.revision });
  const next = reloaded(stand, page);
  await next.rest();
  expect(next.shelf.size).toBe(1);
  await next.open();
  expect([next.text, next.clashed]).toEqual(["one of mine", undefined]);
  next.type("one of mine!");
  expect(next.clashed).toBe("one of theirs");
  next.drafts.decide("code", "a");
  await next.rest();
  expect(stand.rows.get("a")?.text).toBe("one of mine!");
  expect(next.shelf.size).toBe(0);
});
