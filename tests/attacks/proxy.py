"""A router in user space between a node and those that it dials, which does as it likes.

It carries bytes as they are, or ends TLS on both sides with certificates that it was given: then it
is what a member can do that runs another program than the others.
"""

import asyncio
import threading


class Link:
    """One connection that is carried: both its ends, and how much has passed."""

    def __init__(self, near, far):
        self.ends = (near, far)
        self.passed = [0, 0]

    def cut(self):
        """Reset both ends, without a farewell."""
        for end in self.ends:
            end.transport.abort()


class Proxy:
    """Carries connections to a port; `treat` says what becomes of what passes.

    `treat(link, outward, data, send)` is a coroutine. It gets each piece of bytes, and passes on
    what it wants to by `await send(bytes)`. `outward` says whether a piece comes from the node that
    has dialled.
    """

    def __init__(self, port, treat=None, tls=(None, None)):
        self.target = port
        self.treat = treat or self.carry
        self.tls = tls
        self.links = []
        self.accepted = 0
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.server = self.call(self.listen())
        self.port = self.server.sockets[0].getsockname()[1]

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    @staticmethod
    async def carry(_link, _outward, data, send):
        await send(data)

    async def listen(self):
        return await asyncio.start_server(self.accept, "127.0.0.1", 0, ssl=self.tls[0])

    async def accept(self, reader, writer):
        self.accepted += 1
        name = "127.0.0.1" if self.tls[1] else None
        try:
            far = await asyncio.open_connection(
                "127.0.0.1", self.target, ssl=self.tls[1], server_hostname=name
            )
        except OSError:
            writer.transport.abort()
            return
        link = Link(writer, far[1])
        self.links.append(link)
        ways = [(True, reader, far[1]), (False, far[0], writer)]
        tasks = [asyncio.ensure_future(self.pass_on(link, *way)) for way in ways]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        link.cut()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.links.remove(link)

    async def pass_on(self, link, outward, reader, writer):
        async def send(data):
            writer.write(data)
            await writer.drain()

        try:
            while data := await reader.read(1 << 16):
                link.passed[outward] += len(data)
                await self.treat(link, outward, data, send)
        except (OSError, asyncio.IncompleteReadError):
            pass  # One of both ends has gone, and the link ends with it.

    def cut(self):
        """Reset all connections that are carried now; returns how many there were."""

        async def cut_all():
            links = list(self.links)
            for link in links:
                link.cut()
            return len(links)

        return self.call(cut_all())

    def close(self):
        async def close():
            self.server.close()
            for link in list(self.links):
                link.cut()
            await asyncio.sleep(0.05)

        self.call(close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
