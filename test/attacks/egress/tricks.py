"""Requests that two readers read differently, and the honest ones beside them."""
import ssl
from dataclasses import dataclass


def get(url, *headers, host="good.test"):
    return ("GET %s HTTP/1.1\r\n" % url).encode("utf8", "surrogateescape") + b"".join(h.encode("latin1") + b"\r\n" for h in headers) + f"Host: {host}\r\nConnection: close\r\n\r\n".encode()


def connect(to, host=None):
    return f"CONNECT {to} HTTP/1.1\r\nHost: {host or to}\r\n\r\n".encode("utf8")


def hello(name):
    """Returns the ClientHello for a server name; None for none."""
    ctx = ssl.create_default_context()
    ctx.check_hostname, ctx.verify_mode = False, ssl.CERT_NONE
    ours, theirs = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        ctx.wrap_bio(ours, theirs, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return theirs.read()


@dataclass
class Case:
    id: str  # stands in what would arrive
    promise: str
    name: str
    raw: bytes
    then: bytes
    control: bytes
    forbids: bool = False  # nothing of it may arrive, at the allowed host either


def readings(victim):
    """Returns the tricks. The allowed host is good.test; victim is the address of the others."""
    cases = []

    def add(promise, name, make, control, then=b"", forbids=False):
        id = f"trick{len(cases):03d}"
        put = lambda m: m(id) if callable(m) else m
        cases.append(Case(id, promise, name, put(make), then.replace(b"ID", id.encode()), put(control), forbids))

    def url(promise, name, host, control="http://victim.test/", headers=(), forbids=False):
        add(promise, name, lambda id: get(f"http://{host}/{id}", *headers), lambda id: get(control + id, *headers), forbids=forbids)

    def tunnel(promise, name, to, control="victim.test:22", host=None, forbids=False):
        add(promise, name, connect(to, host), connect(control), b"ID\r\n", forbids)

    same = lambda host: f"http://{host}/"
    p = "a host that is not in the policy"
    for name, host in [("itself", "victim.test"), ("in capitals", "ViCtIm.TeSt"), ("a suffix", "good.test.victim.test"), ("a prefix", "evilgood.test"),
                       ("punycode of a look-alike", "xn--gd-rmcc.test"), ("its address", victim)]:
        url(p, name, host, same(host))
    add(p, "Host names the allowed one", lambda id: get(f"http://victim.test/{id}", host="good.test"), lambda id: get(f"http://victim.test/{id}", host="good.test"))
    add(p, "Host names it, twice", lambda id: get(f"http://good.test/{id}", "Host: victim.test"), lambda id: get(f"http://victim.test/{id}"), forbids=True)
    tunnel(p, "a tunnel", "victim.test:22")
    tunnel(p, "a tunnel whose Host is the allowed one", "victim.test:22", host="good.test:22")
    tunnel(p, "a tunnel to its address", victim + ":22", victim + ":22")
    tunnel(p, "a port that is not in the policy", "good.test:25", "good.test:22", forbids=True)
    p = "a host that two readers read differently"
    for name, host in [("userinfo", "good.test@victim.test"), ("userinfo with a port", "good.test:80@victim.test"), ("userinfo and the other way", "victim.test@good.test"),
                       ("a tab", "good.test\t.victim.test"), ("a line feed", "good.test/\nHost: victim.test\nX: "), ("a carriage return", "victim.test\r.good.test"),
                       ("a space", "good.test victim.test"), ("NUL", "victim.test\0.good.test"), ("an escaped NUL", "victim.test%00.good.test"),
                       ("an escaped dot", "good%2etest"), ("an escaped at", "good.test%40victim.test"), ("a dot at the end", "good.test."), ("two dots", "good..test"),
                       ("a full-width dot", "good\u3002test"), ("look-alikes", "g\u043e\u043ed.test"), ("a soft hyphen", "go\u00adod.test"), ("bad punycode", "xn--0.test"),
                       ("a backslash", "good.test\\@victim.test"), ("a fragment", "good.test#@victim.test"), ("a query without a path", "good.test?@victim.test/x?"),
                       ("two ports", "good.test:80:22"), ("a port with zeros", "good.test:0080"), ("a port beyond", "good.test:65616"), ("an empty port", "good.test:"),
                       ("a port with a sign", "good.test:+80"), ("brackets around a name", "[good.test]"), ("a semicolon", "good.test;victim.test")]:
        url(p, name, host, forbids="userinfo" in name)
    for name, to in [("userinfo in a tunnel", "good.test@victim.test:22"), ("a dot at the end of a tunnel", "good.test.:22"), ("an IPv6 zone", "[fe80::1%25lo]:22"),
                     ("a tunnel with a path", "good.test:22/victim.test:22"), ("a tunnel with a query", "good.test:22?victim.test:22"), ("a tunnel with a scheme", "http://good.test:22"),
                     ("a tunnel without a port", "good.test"), ("a tab in a tunnel", "good.test:22\tvictim.test:22"), ("capitals and a dot", "GOOD.TEST.:22")]:
        tunnel(p, name, to, forbids=True)
    p = "an address that is written in another way"
    for host in ["2130706433", "0177.0.0.1", "017700000001", "0x7f000001", "0x7f.0.0.0x1", "127.1", "127.000.000.001", "1.127.0.0.1", "127.0.0.1.", "[::ffff:127.0.0.1]",
                 "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::1]", "[fe80::1%25lo]", "0", "0.0.0.0"]:
        url(p, host, host, forbids=True)
        tunnel(p, host, host + ":22", forbids=True)
    p = "addresses inside"
    for host in ["127.0.0.1", "10.1.2.3", "169.254.169.254", "localhost", "choir.localhost", "metadata.google.internal", "192.168.1.1", "224.0.0.1", "255.255.255.255", "100.64.0.1"]:
        url(p, host, host, forbids=True)
        tunnel(p, host, host + ":22", forbids=True)
    p = "the server name of TLS is the host of the tunnel"
    tls = lambda name, said: add(p, name, connect("good.test:443"), connect("victim.test:22"), said, True)
    # The id follows the handshake: what a server would hear of a tunnel that was let out.
    for name, said in [("another host", hello("victim.test")), ("a host below", hello("x.good.test")), ("no name", hello(None)), ("no TLS", b"GET / HTTP/1.1\r\nHost: victim.test\r\n\r\n"),
                       ("SSH", b"SSH-2.0-x\r\n"), ("half a handshake", hello("good.test")[:40])]:
        tls(name, said + b"ID")
    p = "what is no plain request"
    for name, line in [("another scheme", "GET ftp://good.test/ID HTTP/1.1"), ("TLS made by the proxy", "GET https://good.test/ID HTTP/1.1"), ("an authority alone", "GET //victim.test/ID HTTP/1.1"),
                       ("HTTP/2 in the clear", "PRI * HTTP/2.0"), ("three spaces", "GET   http://victim.test/ID   HTTP/1.1"), ("a lower-case CONNECT", "connect victim.test:22 HTTP/1.1")]:
        add(p, name, lambda id, line=line: line.replace("ID", id).encode() + b"\r\nHost: good.test\r\nConnection: close\r\n\r\n", lambda id: get(f"http://victim.test/{id}"), forbids=True)
    return cases


def smuggling():
    """Returns (id, name, raw): requests with another one hidden in them."""
    cases = []

    def add(name, make):
        id = f"smuggle{len(cases):02d}"
        cases.append((id, name, make(id).encode("latin1")))

    inner = "GET /smuggled HTTP/1.1\r\nHost: other.test\r\n\r\n"
    head = lambda id, *headers: f"POST http://good.test/{id} HTTP/1.1\r\nHost: good.test\r\n" + "".join(h + "\r\n" for h in headers) + "Connection: close\r\n\r\n"
    chunks = "0\r\n\r\n" + inner
    add("a length and chunks", lambda id: head(id, "Content-Length: 4", "Transfer-Encoding: chunked") + chunks)
    add("chunks and a length", lambda id: head(id, "Transfer-Encoding: chunked", f"Content-Length: {len(chunks)}") + chunks)
    add("chunks with a tab", lambda id: head(id, "Transfer-Encoding:\tchunked", "Content-Length: 4") + chunks)
    add("chunks with a space before the colon", lambda id: head(id, "Transfer-Encoding : chunked", f"Content-Length: {len(chunks)}") + chunks)
    add("chunks twice", lambda id: head(id, "Transfer-Encoding: chunked", "Transfer-Encoding: identity", f"Content-Length: {len(chunks)}") + chunks)
    add("odd chunks", lambda id: head(id, "Transfer-Encoding: xchunked", f"Content-Length: {len(chunks)}") + chunks)
    add("chunks hidden by Connection", lambda id: f"POST http://good.test/{id} HTTP/1.1\r\nHost: good.test\r\nConnection: close, Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    add("two lengths", lambda id: head(id, "Content-Length: 0", f"Content-Length: {len(inner)}") + inner)
    add("a length with a sign", lambda id: head(id, f"Content-Length: +{len(inner)}") + inner)
    add("lengths in one line", lambda id: head(id, f"Content-Length: 0, {len(inner)}") + inner)
    add("a folded header", lambda id: head(id, "X: a", f" Content-Length: {len(inner)}") + inner)
    add("a bare line feed", lambda id: head(id, "X: a\nTransfer-Encoding: chunked") + chunks)
    add("a bare carriage return", lambda id: head(id, "X: a\rHost: other.test") + inner)
    add("GET with a body", lambda id: f"GET http://good.test/{id} HTTP/1.1\r\nHost: good.test\r\nContent-Length: {len(inner)}\r\n\r\n" + inner)
    add("a second one behind it", lambda id: f"GET http://good.test/{id} HTTP/1.1\r\nHost: good.test\r\n\r\n" + inner)
    add("chunk extensions", lambda id: head(id, "Transfer-Encoding: chunked") + "0;a=\nGET /smuggled HTTP/1.1\r\n\r\n" + inner)
    add("a long chunk size", lambda id: head(id, "Transfer-Encoding: chunked") + "00000000000000000000000000000000\r\n\r\n" + inner)
    add("a trailer", lambda id: head(id, "Transfer-Encoding: chunked", "Trailer: Host") + "0\r\nHost: other.test\r\n\r\n")
    add("Host of another by HTTP/1.0", lambda id: f"GET http://good.test/{id} HTTP/1.0\r\nHost: other.test\r\n\r\n")
    add("another host for the one behind", lambda id: f"GET http://good.test/{id} HTTP/1.1\r\nHost: good.test\r\nX-Forwarded-Host: other.test\r\nX-Original-URL: /smuggled\r\n\r\n")
    return cases
