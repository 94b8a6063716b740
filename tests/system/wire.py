"""A wire between two bridges that delays frames: what goes in at one end comes out at the other
later, in order. It is in user space, because not every kernel can delay frames.
"""

import collections
import fcntl
import os
import random
import select
import struct
import subprocess
import threading
import time

TUNSETIFF, TAP_WITHOUT_HEADER = 0x400454CA, 0x0002 | 0x1000
LONGEST_FRAME = 65_536


class Wire:
    """Frames take between these two times, as long as this process runs."""

    def __init__(self, bridges, shortest, longest, seed=0):
        self.delay = lambda: random_times.uniform(shortest, longest)
        random_times = random.Random(seed)
        self.ends = [self.plug(f"{bridge}-w", bridge) for bridge in bridges]
        self.frames = 0
        threading.Thread(target=self.carry, daemon=True).start()

    @staticmethod
    def plug(name, bridge):
        end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH", name.encode(), TAP_WITHOUT_HEADER))
        subprocess.run(["ip", "link", "set", name, "master", bridge, "up"], check=True)
        return end

    def carry(self):
        under_way = [collections.deque(), collections.deque()]
        while True:
            now = time.monotonic()
            for queue, end in zip(under_way, reversed(self.ends)):
                while queue and queue[0][0] <= now:
                    try:
                        os.write(end, queue.popleft()[1])
                    except OSError:
                        pass  # a full queue loses frames, as switches do
            next_due = min((queue[0][0] for queue in under_way if queue), default=now + 0.05)
            ready, _, _ = select.select(self.ends, [], [], max(0, next_due - time.monotonic()))
            for end in ready:
                frame = os.read(end, LONGEST_FRAME)
                queue = under_way[self.ends.index(end)]
                due = time.monotonic() + self.delay()
                # Nobody overtakes: TCP would take that for loss.
                queue.append((max(due, queue[-1][0]) if queue else due, frame))
                self.frames += 1
