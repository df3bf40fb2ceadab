"""Registries of npm, PyPI and cargo behind TLS, which answer whatever they are asked and can be made to lie."""
import sys; sys.path.append(sys.path[0] + "/vault")
import base64, hashlib, http.server, json, re
import hosts
import canary

NPM, YARN, INDEX, FILES, CRATES, CRATE_FILES = ADDRESSES = ["registry.npmjs.org", "registry.yarnpkg.com", "pypi.org", "files.pythonhosted.org", "index.crates.io", "static.crates.io"]
CACHE = "choir package cache"  # how the cache calls itself


def content(host, name, version, size=150_000):
    """Returns the content of a package, which is another one at each host."""
    return hashlib.shake_256(f"{host} {name} {version}".encode()).digest(size)


EVIL = b"evil " + content("evil", "evil", "evil")


def tarball(name, version):
    """Returns the path of a tarball of npm."""
    return f"/{name}/-/{name.split('/')[-1]}-{version}.tgz"


def pypi_file(name):
    """Returns the path of a file of PyPI, which is the digest of its content."""
    digest = hashlib.blake2b(content(FILES, name, "1.0.0"), digest_size=32).hexdigest()
    return f"/packages/{digest[:2]}/{digest[2:4]}/{digest[4:]}/{name}-1.0.0.tar.gz"


class Handler(canary._Handler):
    """Answers as a registry does, and evil to all that it does not know."""

    def setup(self):
        http.server.BaseHTTPRequestHandler.setup(self)

    def handle_one(self):
        registry, mine = self.server.hosts, self.headers.get("User-Agent") == CACHE
        with registry.changed:
            registry.asked.append((mine, self.headers.get("Host"), self.command, self.path, dict(self.headers)))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) if "Transfer-Encoding" not in self.headers else b""
        lie = registry.lies.get(self.path)
        if lie:
            return lie(self)
        if not mine and (body or self.command not in ("GET", "HEAD")):
            return self.say(200, [], EVIL)
        self.honest()

    do_GET = do_POST = do_HEAD = do_PUT = handle_one

    def honest(self):
        host, (path, _, query) = self.headers.get("Host"), self.path.partition("?")
        known = "Authorization" in self.headers or "Cookie" in self.headers or "token" in query
        path = re.sub("^/@corp%2f", "/@corp/", path, flags=re.I)
        if path.startswith("/@corp/") and not known:
            return self.say(404, [], b"not found")
        kind, text = self.find(host, path)
        headers = [("Content-Type", kind), ("Cache-Control", "public, max-age=300")]
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        if part:
            return self.say(206, headers + [("Content-Range", f"bytes {part[1]}-{part[2]}/{len(text)}")], text[int(part[1]):int(part[2]) + 1])
        self.say(200, headers, text)

    def find(self, host, path):
        """Returns the type and body of an answer, without what a request says besides its host and path."""
        if m := re.fullmatch(r"/((?:@[^/]+/)?[^/]+)/-/[^/]+-(\d[\w.]*)\.tgz", path):
            return "application/octet-stream", content(host, m[1], m[2])
        if m := re.fullmatch(r"/((?:@[^/]+/)?[A-Za-z-]+\d?)/(\d+\.\d+\.\d+)", path):
            return "application/json", json.dumps(self.promise(host, m[1], m[2])).encode()
        if m := re.fullmatch(r"/simple/([a-z-]+)/", path):
            kind = "application/vnd.pypi.simple.v1+json" if "json" in (self.headers.get("Accept") or "") else "text/html"
            return kind, f"{kind} page of {m[1]}".encode()
        if m := re.fullmatch(r"/packages/../../\w{60}/([\w-]+)-1\.0\.0\.tar\.gz", path):
            return "application/octet-stream", content(FILES, m[1], "1.0.0")
        if m := re.fullmatch(r"/crates/([\w-]+)/(?:\1-)?(1\.0\.0)(?:/download|\.crate)", path):
            return "application/gzip", content(CRATE_FILES, m[1], m[2])
        if host == CRATES and (m := re.fullmatch(r"/../../([a-z-]+)", path)):
            lines = [{"name": n, "vers": "1.0.0", "cksum": hashlib.sha256(content(CRATE_FILES, n, "1.0.0")).hexdigest()} for n in (m[1], m[1].title())]
            return "text/plain", "\n".join(map(json.dumps, lines)).encode()
        if m := re.fullmatch(r"/((?:@[^/]+/)?[A-Za-z-]+)", path):
            return "application/json", json.dumps({"name": m[1], "at": host, "versions": {"1.0.0": self.promise(host, m[1], "1.0.0")}}).encode()
        return "text/plain", EVIL

    def promise(self, host, name, version):
        """Returns what the registry says of a version."""
        text = self.server.hosts.promised.get(tarball(name, version), content(host, name, version))
        return {"name": name, "version": version, "dist": {"tarball": f"https://{host}{tarball(name, version)}", "integrity": "sha512-" + base64.b64encode(hashlib.sha512(text).digest()).decode()}}

    def say(self, status, headers, text, length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def say_part(self, text, length):
        """Says a whole that is longer than what follows, and hangs up."""
        self.say(200, [], text, length)
        self.close_connection = True

    def say_chunks(self, text, end):
        """Says content in one chunk, with or without an end."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(text), text) + end)
        self.close_connection = True


class _Server:
    def __init__(self, registry):
        self.hosts = registry


class Registry(hosts.Hosts):
    """All registries at one address each. lies has an answer for a path, promised the content that npm says a path has."""

    def __init__(self, folder):
        self.lies, self.promised, self.asked = {}, {}, []
        names = {name: [f"11.22.33.{i + 10}"] for i, name in enumerate(ADDRESSES + ["evil.test"])}
        super().__init__([a for all in names.values() for a in all], names, folder)

    def heard(self):
        """Returns the requests since the last call: (by the cache, host, method, path, headers)."""
        with self.changed:
            out, self.asked = self.asked, []
            return out

    def _serve(self, conn, heard):
        try:
            conn.settimeout(40)
            if heard.port == 443:
                conn = self.tls.wrap_socket(conn, server_side=True)
            Handler(conn, conn.getpeername(), _Server(self))
        except (OSError, ValueError):
            pass  # the other end broke off
        finally:
            conn.close()
