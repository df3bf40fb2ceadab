"""Reads HTTP requests as Python's server does, and their addresses as urllib does.

Each line of standard input is bytes in base64; each line of output what was read of them.
"""
import base64, http.server, io, json, sys
from urllib.parse import urlsplit


class Reader(http.server.BaseHTTPRequestHandler):
    def __init__(self, data):
        self.rfile, self.wfile, self.requests = io.BytesIO(data), io.BytesIO(), []
        self.client_address, self.server, self.close_connection = ("", 0), None, True
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            return
        one = {"method": self.command, "url": self.path, "host": self.headers.get("Host", ""), "body": -1}
        try:
            u = urlsplit("http://" + self.path if self.command == "CONNECT" else self.path)
            if u.hostname:
                one |= {"name": "[%s]" % u.hostname if ":" in u.hostname else u.hostname, "port": str(u.port or 80), "path": u.path or "/", "user": (u.username or "") + (u.password or "")}
        except ValueError:
            pass
        if "Transfer-Encoding" not in self.headers:
            one["body"] = int(self.headers.get("Content-Length") or 0)
        self.requests.append(one)

    def log_message(self, *args):
        pass


for line in sys.stdin:
    try:
        said = Reader(base64.b64decode(line)).requests
    except (ValueError, TypeError, LookupError):
        said = []  # a header that it cannot decode
    print(json.dumps(said), flush=True)
