"""Tests of real nodes: processes on this machine, each with a certificate."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import fabnet
import numpy as np
import pytest
from test_solve import Means

ROUNDS = 8000


@pytest.fixture
def folder(tmp_path):
    fabnet.issue_certificates(tmp_path / "certificates", ["alpha", "beta"])
    (tmp_path / "experiment.toml").write_text(
        f'agents = 3\nrounds = {ROUNDS}\nseeds = 1\n[problem]\nkind = "brought"\n'
        '[topology]\nkind = "complete"\n[[algorithm]]\nkind = "fab"\npenalty = 20\nsteps = 0.1\n'
        '[network]\ntick = 0.001\n[record]\nevery = 100\nmetrics = ["consensus"]\n'
    )
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [socket.getsockname()[1] for socket in sockets]
    for one in sockets:
        one.close()
    for name in ["alpha", "beta"]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "node.toml").write_text(
            f'run = "python"\nnode = "{name}"\nplan = "../experiment.toml"\n'
            'state = "state"\nlinger = "3s"\n[tls]\nca = "../certificates/ca.pem"\n'
            f'certificate = "../certificates/{name}.pem"\nkey = "../certificates/{name}.key"\n'
            f'[[member]]\nname = "alpha"\nagents = [0]\naddress = "127.0.0.1:{ports[0]}"\n'
            f'[[member]]\nname = "beta"\nagents = [1, 2]\naddress = "127.0.0.1:{ports[1]}"\n'
        )
    return tmp_path


@pytest.fixture
def start(folder):
    processes = []

    def start(name, *arguments):
        command = [
            sys.executable,
            str(pathlib.Path(__file__).with_name("node_process.py")),
            str(folder / name / "node.toml"),
            *map(str, arguments),
        ]
        processes.append(
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def result(process):
    out, log = process.communicate(timeout=120)
    assert process.returncode == 0, log
    return json.loads(out)


def wait_for(path):
    deadline = time.monotonic() + 60
    while not (path.exists() and path.stat().st_size > 0):
        assert time.monotonic() < deadline, f"{path} does not come"
        time.sleep(0.05)


def check(found, agents):
    assert found["agents"] == agents
    assert found["rounds"] == ROUNDS
    assert np.allclose(found["x"], Means(3).data.mean(0), atol=1e-4)


def test_two_nodes_find_the_mean_of_what_they_have_and_survive_a_death(folder, start):
    alpha, beta = start("alpha"), start("beta")
    wait_for(folder / "beta" / "state" / "1" / "track")
    beta.kill()
    time.sleep(0.5)
    beta = start("beta")
    check(result(alpha), [0])
    check(result(beta), [1, 2])


def test_an_exception_arrives_as_it_is_and_the_others_go_on(folder, start):
    alpha, beta = start("alpha"), start("beta", 500)
    _, log = beta.communicate(timeout=60)
    assert "KeyError: 'on purpose'" in log
    beta = start("beta")
    check(result(alpha), [0])
    check(result(beta), [1, 2])


def test_an_interrupt_says_farewell(folder, start):
    alpha, beta = start("alpha"), start("beta")
    wait_for(folder / "beta" / "state" / "1" / "track")
    beta.send_signal(signal.SIGINT)
    _, log = beta.communicate(timeout=60)
    assert "KeyboardInterrupt" in log
    assert list((folder / "beta" / "state" / "1").glob("checkpoint-*"))
    beta = start("beta")
    check(result(alpha), [0])
    check(result(beta), [1, 2])


def test_links_have_one_thread_unless_told_otherwise(monkeypatch):
    nowhere = fabnet.Node("nowhere/node.toml", Means(3))
    monkeypatch.delenv("ZENOH_RUNTIME", raising=False)
    with pytest.raises(ValueError):
        nowhere.run()
    assert "rx: (worker_threads: 1)" in os.environ["ZENOH_RUNTIME"]
    monkeypatch.setenv("ZENOH_RUNTIME", "(rx: (worker_threads: 3))")
    with pytest.raises(ValueError):
        nowhere.run()
    assert os.environ["ZENOH_RUNTIME"] == "(rx: (worker_threads: 3))"


def test_what_is_wrong_is_named(folder):
    node = folder / "alpha" / "node.toml"
    problem = Means(3)
    with pytest.raises(ValueError, match="node.toml"):
        fabnet.Node(folder / "nowhere" / "node.toml", problem).run()
    node.write_text(node.read_text().replace("agents = [1, 2]", "agents = [1]"))
    with pytest.raises(ValueError, match="the plan has 3 agents, the members own 2"):
        fabnet.Node(node, problem).run()
