// The network outside of the sandbox, as far as a page could reach it: a web
// server under a foreign name and a TURN server, which write down what arrives.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, createServer as createLine } from "node:net";
import { Transform } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

/** The name that stands for a host of somebody else. */
const NAME = "evil.example";

/** How long something may take to arrive, in milliseconds. The controls arrive within a tenth of it. */
const ARRIVES_MS = 3_000;

/** Starts both servers; `seen` is what arrived, in order. */
export async function startOutside() {
  const seen = [];
  const web = createServer((asked, answer) => {
    seen.push(`${asked.method} ${asked.url}`);
    answer.setHeader("Access-Control-Allow-Origin", "*");
    answer.setHeader("Access-Control-Allow-Private-Network", "true");
    answer.setHeader("Content-Type", "text/html");
    answer.end("<title>outside</title>COMMAND-FROM-OUTSIDE");
  });
  web.on("upgrade", (asked, socket) => {
    seen.push(`WebSocket ${asked.url}`);
    socket.destroy();
  });
  await once(web.listen(0, "127.0.0.1"), "listening");
  const turn = createSocket("udp4");
  turn.on("message", (packet, from) => {
    seen.push(`TURN ${packet.toString("latin1").replace(/[^ -~]/g, "")}`);
    if (packet.readUInt16BE(0) === 3) turn.send(challenge(packet), from.port, from.address);
  });
  turn.bind(0, "127.0.0.1");
  await once(turn, "listening");
  const knocked = createLine((socket) => {
    seen.push("connected");
    socket.destroy();
  });
  await once(knocked.listen(0, "127.0.0.1"), "listening");
  return {
    seen,
    /** Where the web server is, by its foreign name. */
    address: `http://${NAME}:${web.address().port}`,
    /** Where the TURN server is. */
    turn: `turn:127.0.0.1:${turn.address().port}`,
    /** Where a connection alone is written down. */
    knock: `http://${NAME}:${knocked.address().port}`,
    /** What makes a browser find the name. */
    rule: `MAP ${NAME} 127.0.0.1`,
    /** Waits until something with these words has arrived; false when it does not. */
    async arrived(words) {
      for (const end = performance.now() + ARRIVES_MS; performance.now() < end; await pause(20))
        if (seen.some((one) => one.includes(words))) return true;
      return false;
    },
    stop() {
      web.closeAllConnections();
      web.close();
      turn.close();
      knocked.close();
    },
  };
}

/** The answer to a request for a relay that asks for a name and password, which the next packet carries. */
function challenge(packet) {
  const attribute = (type, value) => {
    const out = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
    out.writeUInt16BE(type, 0);
    out.writeUInt16BE(value.length, 2);
    value.copy(out, 4);
    return out;
  };
  const body = Buffer.concat([
    attribute(0x0009, Buffer.from([0, 0, 4, 1])),
    attribute(0x0014, Buffer.from("realm")),
    attribute(0x0015, Buffer.from("nonce")),
  ]);
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x0113, 0);
  head.writeUInt16BE(body.length, 2);
  head.writeUInt32BE(0x2112a442, 4);
  return Buffer.concat([head, packet.subarray(8, 20), body]);
}

/**
 * A line to choir that can take headers out of its answers, for the controls:
 * `off` names them. The browser is told to come this way by `rule`.
 */
export async function startLine(choirPort) {
  const off = new Set();
  const sockets = new Set();
  const line = createLine((near) => {
    const far = connect(choirPort, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(one);
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.on("error", () => other.destroy());
    }
    near.pipe(far);
    far.pipe(without(off)).pipe(near);
  });
  await once(line.listen(0, "127.0.0.1"), "listening");
  return {
    off,
    rule: `MAP *.localhost:${choirPort} 127.0.0.1:${line.address().port}`,
    stop() {
      for (const socket of sockets) socket.destroy();
      line.close();
    },
  };
}

/** Gives the named headers another name of the same length. */
function without(off) {
  return new Transform({
    transform(chunk, _, done) {
      let text = chunk.toString("latin1");
      for (const name of off) text = text.replaceAll(`\r\n${name}: `, `\r\nX${name.slice(1)}: `);
      done(null, Buffer.from(text, "latin1"));
    },
  });
}
