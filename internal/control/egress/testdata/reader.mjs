// Reads HTTP requests as Node's server (llhttp) does, and their addresses as browsers do.
// Each line of standard input is bytes in base64; each line of output what was read of them.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { Duplex } from 'node:stream';

let requests = [];

// A server of Node answers by itself, without a word to its program, what has no Host and what
// expects something that it does not know: then the message behind it would pass for the first.
const server = createServer({ requireHostHeader: false }, take);
server.on('checkExpectation', take);

// Adds a request when its body has ended.
function take(req, res) {
  const one = { method: req.method, url: req.url, host: req.headers.host ?? '', body: 0, ...address(req.url) };
  req.on('data', (piece) => (one.body += piece.length));
  req.on('end', () => {
    requests.push(one);
    res.end();
  });
}
server.on('connect', (req) => requests.push({ method: 'CONNECT', url: req.url, host: req.headers.host ?? '', body: 0, ...address(`http://${req.url}`) }));
server.on('clientError', () => {});
server.on('upgrade', (req) => requests.push({ method: req.method, url: req.url, host: req.headers.host ?? '', body: 0, ...address(req.url) }));

// Returns what a browser makes of an address; nothing for one that it refuses.
function address(text) {
  if (!URL.canParse(text)) return {};
  const u = new URL(text);
  return { name: u.hostname, port: u.port || (u.protocol === 'http:' ? '80' : ''), path: u.pathname, user: u.username + u.password };
}

// Reads all requests in bytes, as of a connection that ends with them.
function read(bytes) {
  requests = [];
  return new Promise((done) => {
    const conn = new Duplex({ read() {}, write(_chunk, _encoding, next) { next(); } });
    conn.setTimeout = conn.setNoDelay = conn.setKeepAlive = conn.ref = conn.unref = () => conn;
    server.emit('connection', conn);
    conn.push(bytes);
    conn.push(null);
    // Whatever the server reads it has read when its stream has ended or broken.
    const end = () => setImmediate(() => { conn.destroy(); done(requests); });
    conn.once('end', end);
    conn.once('error', end);
    conn.once('close', end);
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await read(Buffer.from(line, 'base64')))}\n`);
}
