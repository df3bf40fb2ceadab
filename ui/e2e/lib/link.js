// The way between a browser and choir, which a test can hold up and cut.
import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { within } from "./limits.js";

/** Starts a proxy of this machine; `flags` lead a Chromium through it. */
export async function startLink() {
  const sockets = new Set();
  let held = false;
  const watch = (socket) => {
    if (held) socket.pause();
    if (sockets.has(socket)) return; // it carried a request before
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  };
  const server = createServer((asked, answer) => {
    const { hostname, port, pathname, search } = new URL(asked.url);
    const on = request({
      host: "127.0.0.1",
      port,
      path: pathname + search,
      method: asked.method,
      headers: asked.headers,
    });
    on.on("socket", watch);
    on.on("response", (got) => {
      if (held) return;
      answer.writeHead(got.statusCode, got.rawHeaders);
      got.pipe(answer);
    });
    on.on("error", () => answer.destroy());
    asked.pipe(on);
    if (!hostname.endsWith("localhost")) on.destroy();
  });
  server.on("connection", watch);
  server.on("connect", (asked, socket, head) => {
    const on = connect(Number(asked.url.split(":").at(-1)), "127.0.0.1", () => {
      if (held) return; // what is piped is resumed
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      on.write(head);
      socket.pipe(on).pipe(socket);
    });
    watch(on);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    flags: [`--proxy-server=127.0.0.1:${server.address().port}`, "--proxy-bypass-list=<-loopback>"],
    /** Nothing comes through any more, and nobody is told. */
    hold() {
      held = true;
      for (const socket of sockets) socket.pause();
    },
    /** What was open is lost, and what is opened now works. */
    release() {
      held = false;
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await within(once(server, "close"), "the end of the proxy");
    },
  };
}
