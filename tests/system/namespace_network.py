"""Network namespaces on a bridge, whose links a test can cut. Needs root, iproute2 and nftables."""

import re

from real_nodes import do


class NamespaceNetwork:
    """Namespaces, each with one address, on a bridge that this host is attached to as well.

    The rules that cut links stand where the bridge forwards, so this host reaches every namespace
    however they are cut off from each other. Every name begins with `prefix`, so that several such
    networks can exist at once.
    """

    def __init__(self, prefix, subnet, places):
        self.prefix = prefix
        self.subnet = subnet
        self.places = list(places)
        # Frames between the two bridges need a wire, which the network does not have by itself.
        self.bridges = [f"{prefix}-br", f"{prefix}-far"]

    def __enter__(self):
        self.remove()
        try:
            self.build()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def host(self, place):
        """The address of a place."""
        return f"{self.subnet}.{place}"

    def namespace(self, place):
        return f"{self.prefix}-{place}"

    def plug(self, place):
        """The interface at which a place is plugged into its bridge."""
        return f"{self.prefix}-v{place}"

    def build(self):
        for bridge in self.bridges:
            do("ip", "link", "add", bridge, "type", "bridge")
            do("ip", "link", "set", bridge, "up")
        do("ip", "addr", "add", f"{self.subnet}.254/24", "dev", self.bridges[0])
        do("nft", "add", "table", "bridge", self.prefix)
        hook = "{ type filter hook forward priority 0; }"
        do("nft", "add", "chain", *self._chain(), hook)
        for place in self.places:
            self._add(place)

    def _add(self, place):
        """Make a namespace, and plug it into the first bridge."""
        namespace, plug = self.namespace(place), self.plug(place)
        pair = ["type", "veth", "peer", "name", "eth0", "netns", namespace]
        do("ip", "netns", "add", namespace)
        do("ip", "link", "add", plug, *pair)
        do("ip", "link", "set", plug, "master", self.bridges[0], "up")
        do("ip", "-n", namespace, "addr", "add", f"{self.host(place)}/24", "dev", "eth0")
        do("ip", "-n", namespace, "link", "set", "eth0", "up")
        do("ip", "-n", namespace, "link", "set", "lo", "up")

    def remove(self):
        for place in self.places:
            do("ip", "netns", "del", self.namespace(place), check=False)
            do("ip", "link", "del", self.plug(place), check=False)
        do("nft", "delete", "table", "bridge", self.prefix, check=False)
        for bridge in self.bridges:
            do("ip", "link", "del", bridge, check=False)

    def _chain(self):
        return ["bridge", self.prefix, "forward"]

    def link(self, place, state):
        """Set the link of a place `up` or `down`."""
        do("ip", "link", "set", self.plug(place), state)

    def move(self, place):
        """Plug a place into the second bridge."""
        do("ip", "link", "set", self.plug(place), "master", self.bridges[1])

    def drop(self, source, target=None, percent=100):
        """Lose frames from a place, to another one or to all, until links are healed."""
        match = ["iifname", self.plug(source)]
        if target is not None:
            match += ["oifname", self.plug(target)]
        if percent < 100:
            match += ["numgen", "random", "mod", "100", "<", percent]
        do("nft", "add", "rule", *self._chain(), *match, "counter", "drop")

    def lost(self):
        """The number of frames that were lost since links were healed."""
        rules = do("nft", "list", "chain", *self._chain()).stdout
        return sum(int(count) for count in re.findall(r"counter packets (\d+)", rules))

    def heal(self):
        """Lose no more frames; return how many were lost."""
        lost = self.lost()
        do("nft", "flush", "chain", *self._chain())
        return lost
