"""A network of this process's own, and a canary in it that records every byte that arrives."""
import http.server, os, re, socket, struct, subprocess, threading
from dataclasses import dataclass, field

PORTS = (22, 25, 80, 443, 8080)


@dataclass
class Request:
    path: str
    host: str


@dataclass
class Heard:
    """One connection: where it arrived, and what it said."""
    address: str
    port: int
    data: bytes = b""
    requests: list = field(default_factory=list)


class _Tape:
    """A stream that keeps what was read."""

    def __init__(self, stream, heard):
        self.stream, self.heard = stream, heard

    def _kept(self, data):
        self.heard.data += data
        return data

    def readline(self, n=-1):
        return self._kept(self.stream.readline(n))

    def read(self, n=-1):
        return self._kept(self.stream.read(n))

    def close(self):
        self.stream.close()


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers HTTP as an ordinary server does, keep-alive included."""
    protocol_version = "HTTP/1.1"
    timeout = 20

    def setup(self):
        super().setup()
        self.rfile = _Tape(self.rfile, self.server.heard)

    def handle_one(self):
        self.server.heard.requests.append(Request(self.path, self.headers.get("Host")))
        if "chunked" in (self.headers.get("Transfer-Encoding") or "").lower():
            while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                self.rfile.read(size + 2)
            while self.rfile.readline().strip():
                pass
        else:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chain = re.match(r"/redirect/(\d+)(/.*)", self.path)
        self.send_response(302 if chain else 200)
        if chain:
            step, rest = int(chain[1]), chain[2]
            self.send_header("Location", f"/redirect/{step - 1}{rest}" if step else "http://victim.test" + rest)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    do_GET = do_POST = do_HEAD = do_PUT = handle_one

    def log_message(self, *args):
        pass


class _Server:
    """What a handler needs of a server."""

    def __init__(self, heard):
        self.heard = heard


class Canary:
    """Listens at every address of the network, on PORTS, and answers for names on port 53."""

    def __init__(self, addresses, names, own=()):
        self.names, self.turns = names, {}
        self.connections, self.open, self.changed = [], 0, threading.Condition()
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        # Addresses of others come by routes: those on an interface would be this machine's own.
        for a in addresses:
            subprocess.run(["ip", "route", "add", "local", a + "/32", "dev", "lo"], check=True)
        for a in own:
            subprocess.run(["ip", "addr", "add", a, "dev", "lo"], check=True)
        with open("/tmp/resolv-%d" % os.getpid(), "w") as f:
            f.write("nameserver 127.0.0.1\n")
        os.chmod(f.name, 0o644)
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        subprocess.run(["mount", "--bind", f.name, os.path.realpath("/etc/resolv.conf")], check=True)
        os.unlink(f.name)
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 53))
        threading.Thread(target=self._names, args=(udp,), daemon=True).start()
        for port in PORTS:
            threading.Thread(target=self._accept, args=(socket.create_server(("0.0.0.0", port), backlog=128), port), daemon=True).start()

    def heard(self, at_least=0):
        """Returns what arrived since the last call, when every connection has ended."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.open == 0 and len(self.connections) >= at_least, 60):
                raise TimeoutError("the canary's connections do not end")
            out, self.connections = self.connections, []
            return out

    def _accept(self, listener, port):
        while True:
            conn, _ = listener.accept()
            heard = Heard(conn.getsockname()[0], port)
            with self.changed:
                self.connections.append(heard)
                self.open += 1
            threading.Thread(target=self._serve, args=(conn, heard), daemon=True).start()

    def _serve(self, conn, heard):
        try:
            conn.settimeout(20)
            if heard.port in (80, 8080):
                _Handler(conn, conn.getpeername(), _Server(heard))
            else:
                while data := conn.recv(65536):
                    heard.data += data
        except (OSError, ValueError):
            pass  # the other end broke off
        finally:
            conn.close()
            with self.changed:
                self.open -= 1
                self.changed.notify_all()

    def _names(self, udp):
        while True:
            query, peer = udp.recvfrom(4096)
            end, labels = 12, []
            while query[end]:
                labels.append(query[end + 1:end + 1 + query[end]].decode("latin1"))
                end += 1 + query[end]
            name, kind = ".".join(labels).lower(), struct.unpack(">H", query[end + 1:end + 3])[0]
            answers = self.names.get(name)
            records = b""
            if answers and kind == 1:
                turn = self.turns[name] = self.turns.get(name, -1) + 1
                for a in answers[turn % len(answers)].split(","):
                    records += b"\xc0\x0c\0\x01\0\x01\0\0\0\0\0\x04" + socket.inet_aton(a)
            flags = 0x8180 if answers else 0x8183
            udp.sendto(query[:2] + struct.pack(">HHHHH", flags, 1, len(records) // 16, 0, 0) + query[12:end + 5] + records, peer)
