"""Sends the web port requests that browsers never send, and requests without a session."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
from lib import *

host, port = ORIGIN.split(":")


def raw(request, timeout=5):
    s = socket.create_connection(("127.0.0.1", int(port)))
    s.settimeout(timeout)
    s.sendall(request.replace("PORT", port).replace("CID", computer()).encode("latin1"))
    answer = b""
    try:
        while len(answer) < 20000:
            piece = s.recv(65536)
            if not piece:
                break
            answer += piece
    except OSError:
        pass
    s.close()
    return answer.decode("latin1")


def status(answer):
    return int(answer.split(" ")[1]) if answer.startswith("HTTP/1.1 ") else 0


def get(path, name=f"{host}:{port}", more=""):
    return raw(f"GET {path} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n{more}\r\n")


control("web", status(get("/", f"choir.localhost:{port}")) == 200)
for name, answer in {
    "another host name": get("/api/computers", f"evil.example:{port}"),
    "trailing dot": get("/api/computers", f"choir.localhost.:{port}"),
    "absolute address over host": get(f"http://choir.localhost:{port}/api/computers", "evil.example"),
    "no session": get("/api/computers", f"choir.localhost:{port}"),
    "unknown computer": get("/", f"01a203dc-a24b-7f56-9989-000000000000.localhost:{port}"),
    "preview of port 080": get("/", f"080--CID.localhost:{port}"),
    "made-up ticket": get("/enter?ticket=abc", f"CID.localhost:{port}"),
    "a file above": get("/..%2f..%2f..%2fetc/passwd", f"choir.localhost:{port}"),
    "socket without a session": get("/bus", f"choir.localhost:{port}", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\nSec-WebSocket-Version: 13\r\n"),
    "empty login": raw('POST /auth/login HTTP/1.1\r\nHost: choir.localhost:PORT\r\nOrigin: http://choir.localhost:PORT\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{"token":""}'),
    "login from another site": raw('POST /auth/login HTTP/1.1\r\nHost: choir.localhost:PORT\r\nOrigin: http://evil\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{"token":""}'),
    "two lengths": raw("POST /auth/login HTTP/1.1\r\nHost: choir.localhost:PORT\r\nContent-Length: 5\r\nContent-Length: 6\r\nConnection: close\r\n\r\n{}xxxx"),
    "TRACE": raw("TRACE / HTTP/1.1\r\nHost: choir.localhost:PORT\r\nConnection: close\r\n\r\n"),
    "CONNECT": raw("CONNECT evil:80 HTTP/1.1\r\nHost: choir.localhost:PORT\r\nConnection: close\r\n\r\n"),
}.items():
    attack("web", status(answer) in (101, 200, 201, 202, 204) and "root:" in answer or status(answer) in (101, 200, 201, 202, 204) and name != "a file above",
           f"{name}: {answer[:60]}")

# A redirect leads to this choir and nowhere else.
answer = get("/x?y=1", f"127.0.0.1:{port}")
control("redirect", f"location: http://choir.localhost:{port}/x?y=1" in answer.lower() or status(answer) in (301, 302, 307, 308), answer[:120])
for path in ("x:@evil.example/", "//evil.example/x", "/\\evil.example"):
    answer = get(path, f"127.0.0.1:{port}").lower()
    place = next((l.split(": ", 1)[1] for l in answer.split("\r\n") if l.startswith("location: ")), "")
    attack("redirect", place != "" and not place.startswith(f"http://choir.localhost:{port}/"), f"{path} -> {place}")

# What a stranger on this machine learns of it.
answer = get("/health", f"127.0.0.1:{port}")
known = api("GET", base())[1].decode()
control("health to strangers", computer() in known and f"{RUNG}: " in known and status(answer) == 200, answer[:200])
attack("health to strangers", computer() in answer or f"{RUNG}: " in answer or '"version"' in answer, answer[-300:])
