"""Rows of the table of attacks, and the expectations that they state."""

import time
from dataclasses import dataclass
from typing import Callable


class Failed(Exception):
    """An expectation that is not met, with what was found instead."""


class Skipped(Exception):
    """An attack that this machine does not allow, with the reason."""


@dataclass(frozen=True)
class Row:
    """One attack: who carries it out, what is done, what must hold, and the function that does it.

    The function gets a stage and returns what it has measured, in a few words.
    """

    name: str
    attacker: str
    done: str
    must: str
    act: Callable
    quick: bool


class Rows(list):
    """The attacks of one kind of attacker, in the order in which they are declared."""

    def __init__(self, attacker):
        super().__init__()
        self.attacker = attacker

    def row(self, name, done, must, quick=False):
        """Declare the function that follows as an attack."""

        def declare(act):
            self.append(Row(name, self.attacker, done, must, act, quick))
            return act

        return declare


def expect(condition, otherwise):
    """Fail the row if the condition does not hold."""
    if not condition:
        raise Failed(otherwise)


def wait(what, condition, seconds=30.0, every=0.1):
    """Wait until a condition holds, and return its value; fail the row after this time."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise Failed(f"not within {seconds:.0f} s: {what}")
        time.sleep(every)
