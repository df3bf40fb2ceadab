"""Reaches for the host's network from a tool."""
import sys; sys.path.insert(0, sys.path[0] + "/..")
from lib import *

tcp = socket.create_server(("127.0.0.1", 0))
abstract = socket.socket(socket.AF_UNIX)
abstract.bind("\0choir-attack-%d" % os.getpid())
abstract.listen()
port, name = tcp.getsockname()[1], "\\0choir-attack-%d" % os.getpid()
program = f'''
import os, socket
def attempt(what, act):
    try:
        act(); print("REACHED", what)
    except OSError as e:
        print("refused", what, e)
def connect(family, address):
    s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(3); s.connect(address)
attempt("loopback", lambda: connect(socket.AF_INET, ("127.0.0.1", {port})))
attempt("abstract", lambda: connect(socket.AF_UNIX, "{name}"))
attempt("web", lambda: connect(socket.AF_INET, ("127.0.0.1", {ORIGIN.split(":")[1]})))
attempt("outside", lambda: connect(socket.AF_INET, ("198.51.100.7", 80)))
attempt("metadata", lambda: connect(socket.AF_INET, ("169.254.169.254", 80)))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("alg", lambda: socket.socket(38, socket.SOCK_SEQPACKET))
attempt("xdp", lambda: socket.socket(44, socket.SOCK_RAW))
attempt("netfilter", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12))
listener = socket.create_server(("127.0.0.1", 0))
attempt("own loopback", lambda: connect(socket.AF_INET, listener.getsockname()))
attempt("pair", lambda: socket.socketpair())
'''
host = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
_, out = sandbox("", argv=["python3", "-c", program])
control("network", "REACHED own loopback" in out and "REACHED pair" in out, out)
control("host's sockets", "REACHED loopback" in host and "REACHED abstract" in host and "REACHED web" in host, host)
for what in ("loopback", "abstract", "web"):
    attack("host's sockets", f"REACHED {what}\n" in out, what)
for what in ("outside", "metadata", "packet", "raw", "vsock", "alg", "xdp", "netfilter"):
    attack("network", f"REACHED {what}\n" in out, what)
