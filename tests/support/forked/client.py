"""Has a command line run by ``server.py`` with this process's streams; ends as it ended."""

# Starting is what this saves: nothing is imported that the interpreter has not at hand.
import _socket
import os
import signal
import sys

path, *arguments = sys.argv[1:]
variables = [b"%s=%s" % pair for pair in os.environb.items()]
folder = os.getcwdb()  # noqa: PTH109 - pathlib would have to be imported
words = [folder, b"%d" % len(arguments), *map(os.fsencode, arguments), *variables]
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))

server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect(path)
server.sendmsg([b"+"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
message = memoryview(b"\0".join(words))
while message:
    message = message[server.send(message) :]
server.shutdown(_socket.SHUT_WR)
code = int(server.recv(16))
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
