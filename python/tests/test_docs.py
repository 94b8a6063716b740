"""Examples of the documentation."""

import doctest
import importlib
import pkgutil

import fabnet
import numpy as np
import pytest

MODULES = ["fabnet", *(f"fabnet.{module.name}" for module in pkgutil.iter_modules(fabnet.__path__) if module.name != "_fabnet")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_do_what_they_say(name):
    if name.endswith(("jax", "torch")):
        pytest.importorskip(name.removeprefix("fabnet."))
    found = doctest.testmod(importlib.import_module(name), extraglobs={"fabnet": fabnet, "np": np})
    assert found.failed == 0


def test_examples_are_found():
    finder = doctest.DocTestFinder()
    plain = [name for name in MODULES if not name.endswith(("jax", "torch"))]
    examples = [test for name in plain for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(examples) >= 4
