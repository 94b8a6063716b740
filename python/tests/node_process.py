"""One node of test_node.py, which prints the solution of its agents.

python node_process.py NODE_FILE [FAIL_IN_ROUND]
"""

import json
import signal
import sys

import fabnet
from test_solve import Means


class Known(Means):
    """A problem that fails on purpose, and refuses to answer for agents of other nodes."""

    def __init__(self, mine, fails):
        super().__init__(3)
        self.mine, self.fails = mine, fails

    def lower(self, agent, x, y, round):
        assert agent in self.mine, "the function of an agent that is elsewhere"
        if round == self.fails:
            raise KeyError("on purpose")
        return super().lower(agent, x, y)


if __name__ == "__main__":
    # The process that started the tests may ignore SIGINT, and this one would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    mine = {"alpha": [0], "beta": [1, 2]}[sys.argv[1].split("/")[-2]]
    found = fabnet.Node(
        sys.argv[1], Known(mine, int(sys.argv[2]) if len(sys.argv) > 2 else None)
    ).run()
    print(
        json.dumps(
            {
                "agents": found.agents,
                "x": found.x.tolist(),
                "y": found.y.tolist(),
                "rounds": found.rounds,
            }
        )
    )
