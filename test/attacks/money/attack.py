"""Calls models from a tool without paying, or as somebody else."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
from lib import *

CALL = r'''
import json, os, socket, sys
# The address that the task's commands are given says on whose behalf they call.
HOST = os.environ["http_proxy"].removeprefix("http://").split(":")[0]
def request(path, body, cut=None):
    s = socket.create_connection((HOST, 8801), timeout=30)
    b = json.dumps(body).encode()
    s.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(b)}\r\nConnection: close\r\n\r\n".encode() + b)
    d = b""
    while cut is None or len(d) < cut:
        piece = s.recv(65536)
        if not piece: break
        d += piece
    s.close()
    return d.split(b"\r\n")[0].decode(), d
chat = {"model": "associate", "max_tokens": 2000, "messages": [{"role": "user", "content": "hi"}], "stream": True}
'''


def billed():
    c = http.client.HTTPConnection(BILL, timeout=10)
    c.request("GET", "/ledger")
    return json.loads(c.getresponse().read())


def model_task(script, **fields):
    return sandbox("", argv=["python3", "-c", CALL + script], budget=120, **fields)


ALLOWED = {"model_budget": {"calls": 100, "cost_usd": 0.05}}

# A program may call models only where the task says so.
_, out = model_task("print(request('/openai/v1/chat/completions', chat)[0])", **ALLOWED)
control("a tool's model calls", " 200 " in out, out)
before = billed()["calls"]
_, out = model_task("print(request('/openai/v1/chat/completions', chat)[0])")
attack("a tool's model calls", " 200 " in out or billed()["calls"] > before, f"without model_budget: {out}")

# A call that is read to its end is paid, and so is one that is cut.
before = billed()
_, out = model_task("for i in range(12): print(request('/openai/v1/chat/completions', chat)[0])", **ALLOWED)
whole = billed()["calls"] - before["calls"]
control("cut calls", 1 <= whole < 12, f"{whole} of 12 whole calls within the budget")
before = billed()
_, out = model_task("for i in range(25): print(request('/openai/v1/chat/completions', chat, cut=4000)[0])", **ALLOWED)
cut = billed()["calls"] - before["calls"]
attack("cut calls", cut > whole + 1, f"{cut} cut calls were made at the provider, {whole} whole ones fit into the same budget")

# The path of the roles is theirs.
_, out = model_task("print(request('/choir/v1/model', {'caller': 'director', 'run': '01a203dc-a24b-7f56-9989-000000000000', 'request': {'model': 'director'}}))")
control("the roles' path", "HTTP/1.1" in out, out)
attack("the roles' path", " 200 " in out or "is required" in out, out)

# Names of models lead nowhere but to what is configured.
for what, more in {"another model": {"model": "o1-pro-expensive"}, "a header": {"model": "fake/gpt\r\nX-Evil: 1"}}.items():
    before = billed()
    _, out = model_task(f"print(request('/openai/v1/chat/completions', {{**chat, **{more!r}}})[0])", **ALLOWED)
    after = billed()
    attack("a tool's model calls", after["unknown_models"] > before["unknown_models"] or after["evil_headers"] > 0, f"{what}: {out}")
