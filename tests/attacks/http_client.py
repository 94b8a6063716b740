"""Requests over HTTP that no library would send."""

import contextlib
import socket

PLAIN = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(address, seconds=10):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=seconds)


def answer(address, request, seconds=15, tls=None, longest=1 << 20):
    """What a server answers to these bytes; nothing if it closes the connection."""
    found = b""
    with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
        connection = stack.enter_context(contextlib.closing(connect(address, seconds)))
        if tls:
            wrapped = tls.wrap_socket(connection, server_hostname="localhost")
            connection = stack.enter_context(contextlib.closing(wrapped))
        with contextlib.suppress(OSError):
            connection.sendall(request)
        while len(found) < longest and (piece := connection.recv(65536)):
            found += piece
    return found.decode(errors="replace")


def status_code(text):
    """The status code of an answer; 0 if there is none."""
    words = text.split(" ", 2)
    return int(words[1]) if text.startswith("HTTP/1.") and len(words) > 1 else 0


def request(page, *headers, method="GET", host="localhost", body=b""):
    lines = [f"{method} {page} HTTP/1.1", f"Host: {host}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body
