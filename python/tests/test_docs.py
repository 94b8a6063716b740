"""Tests that the examples of the documentation run."""

import doctest
import importlib
import pathlib
import pkgutil
import re
import socket
import subprocess
import sys

import fabnet
import numpy as np
import pytest

MODULES = [
    "fabnet",
    *(
        f"fabnet.{module.name}"
        for module in pkgutil.iter_modules(fabnet.__path__)
        if module.name != "_fabnet"
    ),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_do_what_they_say(name):
    if name.endswith(("jax", "torch")):
        pytest.importorskip(name.removeprefix("fabnet."))
    found = doctest.testmod(importlib.import_module(name), extraglobs={"fabnet": fabnet, "np": np})
    assert found.failed == 0


def test_examples_are_found():
    finder = doctest.DocTestFinder()
    plain = [name for name in MODULES if not name.endswith(("jax", "torch"))]
    examples = [
        test
        for name in plain
        for test in finder.find(importlib.import_module(name))
        if test.examples
    ]
    assert len(examples) >= 4


GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def blocks(section):
    """Return the programs of a section of the guide."""
    text = GUIDE.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", text, flags=re.S)


@pytest.mark.parametrize(
    "section", ["In three minutes", "A problem of your own", "Algorithms, topologies and faults"]
)
def test_the_guide_runs(section):
    names = {}
    for block in blocks(section):
        exec(
            "import fabnet\nimport numpy as np\n" + block.replace("rounds=2000", "rounds=20"), names
        )
    if section == "In three minutes":
        assert np.allclose(names["solution"].x, [3, 1], atol=1e-4)


CLEANING = {
    "agents": 3,
    "rounds": 5,
    "problem": {
        "kind": "hyper-cleaning",
        "data": "synthetic",
        "samples_per_agent": 40,
        "batch": 8,
        "hidden": 12,
    },
    "algorithm": [{"label": "learned", "kind": "fab", "steps": {"x": 50, "y": 0.05, "z": 0.05}}],
    "record": {"metrics": ["accuracy"]},
}


@pytest.mark.parametrize("package", ["numpy", "torch"])
def test_solutions_load_as_the_guide_says(package, tmp_path, monkeypatch):
    pytest.importorskip("safetensors")
    pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    answer = fabnet.run(CLEANING, out="runs/cleaning").solution()
    text = (
        GUIDE.with_name("guide.md")
        .read_text()
        .split(f"<!-- checked: {package} -->\n```python\n")[1]
        .split("```")[0]
    )
    names = {}
    exec(text, names)
    assert np.array_equal(np.asarray(names["solution"]["y"]), answer.y)
    if package == "torch":
        parameters = {
            name: parameter.detach().numpy()
            for name, parameter in names["model"].named_parameters()
        }
        assert parameters.keys() == answer.model.keys()
        assert all(np.array_equal(parameters[name], answer.model[name]) for name in parameters)


def test_nodes_of_the_guide_agree(tmp_path):
    prepare, program = blocks("Real nodes")
    for address in ["127.0.0.1:7447", "127.0.0.1:7448"]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            prepare = prepare.replace(address, f"127.0.0.1:{free.getsockname()[1]}")
    (tmp_path / "means.py").write_text(program)
    subprocess.run(
        [
            sys.executable,
            "-c",
            prepare.replace('run = "means-1"', 'run = "means-1"\nlinger = "2s"'),
        ],
        cwd=tmp_path,
        check=True,
    )
    nodes = [
        subprocess.Popen(
            [sys.executable, "means.py", f"{name}.toml"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ["alpha", "beta"]
    ]
    try:
        said = [node.communicate(timeout=120)[0] for node in nodes]
    finally:
        for node in nodes:
            node.kill()
    for text in said:
        assert np.allclose(
            [float(number) for number in text.strip().strip("[]").split()], [2, 1], atol=1e-2
        ), text
