"""What strangers can do at the status page of a node, and at the page of `fabnet watch`."""

import contextlib
import os
import re
import socket
import ssl
import subprocess
import time

from cluster import free_ports
from expect import Rows, expect, wait
from http_client import PLAIN, answer, connect, request, status_code

ROWS = Rows("stranger")


def page_of(stage):
    return stage.honest[0].settings["http"]


def is_served(address, within=15):
    """Expect that somebody else is served within this time, and return how long it took."""
    begun = time.monotonic()
    found = answer(address, PLAIN, within)
    expect(found.endswith("alive\n"), f"somebody else is not served: {found[:60]!r}")
    return time.monotonic() - begun


def refuses(stage, requests, *codes):
    """Expect one of these status codes for each request; 0 means a closed connection."""
    found = []
    for text in requests:
        code = status_code(answer(page_of(stage), text))
        expect(code in codes, f"status {code} for {text[:50]!r}")
        found.append(code)
    is_served(page_of(stage))
    return "status " + ", ".join(map(str, sorted(set(found))))


@ROWS.row(
    "http-long-headers",
    "a header of 1 MiB, 10,000 headers, a path of 1 MiB",
    "431, 414 or closed, others are served",
    quick=True,
)
def long_headers(stage):
    requests = [
        request("/status", "a: " + "x" * (1 << 20)),
        request("/status", *["a: b"] * 10_000),
        request("/" + "x" * (1 << 20)),
    ]
    return refuses(stage, requests, 0, 431, 414)


@ROWS.row(
    "http-path-traversal",
    "paths out of the server: dots, encoded dots, NUL, other addresses",
    "404 or 400, nothing of a file",
    quick=True,
)
def path_traversal(stage):
    paths = [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/status/../../../etc/passwd",
        "//etc/passwd",
        "/state/life",
        "/status%00.html",
        "http://127.0.0.1:1/status/x",
        "/metrics/..%5c..%5cetc",
    ]
    for path in paths:
        found = answer(page_of(stage), request(path))
        expect("root:" not in found, f"a file was served for {path}")
    return refuses(stage, [request(path) for path in paths], 404, 400)


@ROWS.row(
    "http-wrong-methods",
    "POST, PUT, DELETE, PATCH, CONNECT, TRACE, OPTIONS and a method of 8 KiB",
    "405, 404 or 400: nothing can be changed",
    quick=True,
)
def wrong_methods(stage):
    methods = ["POST", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "X" * 8192]
    requests = [
        request("/status", "Content-Length: 2", method=method, body=b"{}") for method in methods
    ]
    return refuses(stage, [*requests, request("localhost:1", method="CONNECT")], 405, 404, 400, 0)


@ROWS.row(
    "http-nonsense",
    "random bytes, HTTP/2, a TLS hello, HTTP/9.9, a bare line end, both lengths at once",
    "400 or closed, others are served",
    quick=True,
)
def nonsense(stage):
    both = ("Content-Length: 4", "Transfer-Encoding: chunked")
    requests = [
        os.urandom(4096),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
        b"GET /status HTTP/9.9\r\n\r\n",
        b"\r\n" * 1000,
        request("/nowhere", *both, body=b"0\r\n\r\nGET /status HTTP/1.1\r\n\r\n"),
    ]
    return refuses(stage, requests, 0, 400, 404, 505)


@ROWS.row(
    "http-endless-body",
    "a body of 64 MiB, and chunks without an end, which nobody asked for",
    "answered or closed within 15 s, memory flat",
)
def endless_body(stage):
    address, sent = page_of(stage), 0
    for header in ("Content-Length: 67108864", "Transfer-Encoding: chunked"):
        with contextlib.closing(connect(address)) as client:
            client.sendall(request("/status", header, method="POST"))
            begun = time.monotonic()
            with contextlib.suppress(OSError):
                while time.monotonic() - begun < 15 and sent < 64 << 20:
                    client.sendall(b"10000\r\n" + bytes(65536) + b"\r\n")
                    sent += 65536
            expect(time.monotonic() - begun < 15, "bytes are taken for 15 s")
    is_served(address)
    return f"{sent >> 10} KiB were taken"


@ROWS.row(
    "http-slow-headers",
    "128 clients that send a byte of a request every 500 ms, all places of the server",
    "others are served within 15 s",
    quick=True,
)
def slow_headers(stage):
    address = page_of(stage)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(contextlib.closing(connect(address))) for _ in range(128)]
        for byte in b"GET":
            for client in clients:
                with contextlib.suppress(OSError):
                    client.sendall(bytes([byte]))
            time.sleep(0.5)
        served = is_served(address)
    return f"served after {served:.1f} s"


@ROWS.row(
    "http-no-reader",
    "100 clients that ask for the metrics and read nothing",
    "others are served, no descriptors left",
)
def no_reader(stage):
    address = page_of(stage)
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            client = stack.enter_context(contextlib.closing(socket.socket()))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            host, port = address.rsplit(":", 1)
            client.connect((host, int(port)))
            client.sendall(request("/metrics"))
        served = is_served(address)
    return f"served after {served:.1f} s"


@ROWS.row(
    "http-many-connections",
    "500 connections at once that say nothing",
    "others are served within 30 s, no descriptors left",
)
def many_connections(stage):
    address = page_of(stage)
    with contextlib.ExitStack() as stack:
        for _ in range(500):
            stack.enter_context(contextlib.closing(connect(address)))
        served = is_served(address, 30)
    return f"served after {served:.1f} s"


@ROWS.row(
    "http-many-requests",
    "5,000 requests for the metrics, one after the other",
    "all are answered, rounds go on",
)
def many_requests(stage):
    address, wrong = page_of(stage), 0
    for _ in range(5000):
        wrong += not answer(address, request("/metrics")).endswith("# EOF\n")
    expect(wrong == 0, f"{wrong} requests were not answered")
    return "5,000 were answered"


@contextlib.contextmanager
def watched(stage, *options):
    """`fabnet watch` of the first honest node: the address that it prints."""
    command = [stage.binary, "watch", page_of(stage), *options]
    process = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={key: value for key, value in os.environ.items() if key != "DISPLAY"},
    )
    try:
        said = ""
        while line := process.stdout.readline():
            said += line
            if found := re.search(r"https?://([\w.:]+)/(\?token=(\w+))?", line):
                yield found.group(1), found.group(3)
                return
        expect(False, f"no address was printed: {said[-200:]}")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@ROWS.row(
    "watch-bad-host",
    "requests of the page in the name of another host, and from another page",
    "403",
    quick=True,
)
def bad_host(stage):
    with watched(stage) as (address, _):
        expect(status_code(answer(address, request("/"))) == 200, "the page is not served at all")
        strange = [
            request("/", host="evil.example"),
            request("/stream", host="127.0.0.1.evil.example"),
            request("/", "Origin: https://evil.example"),
            request("/stream", "Origin: null"),
            b"GET / HTTP/1.0\r\n\r\n",
        ]
        for text in strange:
            code = status_code(answer(address, text, 3))
            expect(code == 403, f"status {code} for {text[:60]!r}")
    return f"403 for all {len(strange)}"


@ROWS.row(
    "watch-no-token",
    "the page for other machines without a token, with a wrong one, with half of it",
    "403 over TLS, nothing without TLS",
    quick=True,
)
def no_token(stage):
    listen = f"127.0.0.1:{free_ports(1)[0]}"
    file = stage.honest[0].folder / "node.toml"
    trusting = ssl.create_default_context(cafile=stage.pki / "ca.pem")
    with watched(stage, "--listen", listen, "--certificate-of", file) as (address, token):
        expect(token and len(token) == 32, "there is no token")
        right = answer(address, request(f"/?token={token}"), tls=trusting)
        expect(status_code(right) == 200, f"the right token is refused: {right[:60]!r}")
        tries = ["", "?token=", f"?token={token[:31]}", f"?token={'0' * 32}", f"?Token={token}"]
        for text in tries:
            for page in ("/", "/stream"):
                found = answer(address, request(page + text), 3, tls=trusting)
                expect(status_code(found) == 403, f"status {status_code(found)} for {page}{text}")
        plain = answer(address, request(f"/?token={token}"), 5)
        expect(status_code(plain) == 0, f"served without TLS: {plain[:60]!r}")
    return f"403 for {2 * len(tries)} requests"


@ROWS.row(
    "watch-too-many-browsers",
    "60 browsers that follow the page at once",
    "32 are served, the others get 503",
)
def too_many_browsers(stage):
    with watched(stage) as (address, _), contextlib.ExitStack() as stack:
        codes = []
        for _ in range(60):
            client = stack.enter_context(contextlib.closing(connect(address)))
            client.sendall(request("/stream"))
            codes.append(status_code(client.recv(4096).decode(errors="replace")))
        served = codes.count(200)
        expect(served == 32 and codes.count(503) == 28, f"{served} served, {codes.count(503)} not")
    wait("the node is asked no more", lambda: is_served(page_of(stage)) < 1)
    return "32 served, 28 refused"
