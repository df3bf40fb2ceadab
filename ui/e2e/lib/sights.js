// What a page sees, and when, told over a raw NATS server for the benchmarks.

/**
 * Runs in a page before anything else of it. In a desktop it tells when a mark
 * comes over the raw connection, over the page's own, into the title of a window,
 * and when a frame with another colour of the probe was drawn.
 * @param {{wire: string, stream?: {url: string, user: string, pass: string, subject: string}}} where
 * the raw server's WebSocket is, and the JetStream server's if the page is to hear of its consumer
 */
export function tellSights({ wire, stream }) {
  if (!/^[0-9a-f-]{36}\.localhost$/.test(location.hostname)) return;
  const Plain = globalThis.WebSocket;
  const now = () => performance.timeOrigin + performance.now();
  const text = new TextDecoder();
  const markIn = (words) => /bench-(?:\d{6}|clock)/.exec(words)?.[0];
  const waiting = [];
  const raw = new Plain(wire);
  raw.binaryType = "arraybuffer";
  const tell = (where, mark, at) => {
    const body = JSON.stringify({ where, mark, at });
    const line = `PUB bench.up ${body.length}\r\n${body}\r\n`;
    if (globalThis.benchRaw) raw.send(line);
    else waiting.push(line);
  };
  raw.addEventListener("message", ({ data }) => {
    const at = now();
    const said = text.decode(data);
    const mark = markIn(said);
    if (mark) tell("raw", mark, at);
    if (said.startsWith("INFO "))
      raw.send('CONNECT {"verbose":false,"pedantic":false}\r\nSUB bench.down 1\r\nPING\r\n');
    if (/(^|\n)PING\r\n/.test(said)) raw.send("PONG\r\n");
    // The answer to our PING: the subscription is in force.
    if (/(^|\n)PONG\r\n/.test(said) && !globalThis.benchRaw) {
      globalThis.benchRaw = true;
      for (const line of waiting.splice(0)) raw.send(line);
    }
  });

  if (stream) {
    const held = new Plain(stream.url);
    const bytes = new TextEncoder(); // the proxy takes binary frames only
    held.binaryType = "arraybuffer";
    held.addEventListener("message", ({ data }) => {
      const at = now();
      const said = text.decode(data);
      const mark = markIn(said);
      if (mark) tell("stream", mark, at);
      if (said.startsWith("INFO ")) {
        const who = { verbose: false, pedantic: false, headers: true, user: stream.user, pass: stream.pass };
        held.send(bytes.encode(`CONNECT ${JSON.stringify(who)}\r\nSUB ${stream.subject} 1\r\nPING\r\n`));
      }
      if (/(^|\n)PING\r\n/.test(said)) held.send(bytes.encode("PONG\r\n"));
      if (/(^|\n)PONG\r\n/.test(said)) globalThis.benchStream = true;
    });
  }

  globalThis.WebSocket = class extends Plain {
    constructor(...args) {
      super(...args);
      if (new URL(this.url).pathname !== "/bus") return;
      this.addEventListener("message", ({ data }) => {
        const at = now();
        const said = typeof data === "string" ? data : text.decode(data);
        const mark = markIn(said);
        if (mark) tell("bus", mark, at);
        if (/(^|\n)PONG\r\n/.test(said)) globalThis.benchBus = true;
      });
    }
  };

  let title;
  let colour;
  const look = () => {
    const at = now();
    const mark = markIn([...document.querySelectorAll(".title-text")].map((e) => e.textContent).join());
    if (mark && mark !== title) tell("dom", mark, at);
    title = mark;
    const probe = document.querySelector("#bench-probe");
    const drawn = probe && getComputedStyle(probe).backgroundColor;
    if (!drawn || drawn === colour) return;
    colour = drawn;
    // The frame after the one that draws it begins once that one is drawn.
    requestAnimationFrame(() => requestAnimationFrame(() => tell("pixel", drawn, now())));
  };
  new MutationObserver(look).observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: ["style"],
  });
}
