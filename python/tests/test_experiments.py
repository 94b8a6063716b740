"""Tests of experiments, whose results are those of the command."""

import os
import pathlib
import shutil
import signal
import subprocess
import threading

import fabnet
import numpy as np
import pytest

EXPERIMENT = {
    "agents": 5,
    "rounds": 40,
    "seeds": 2,
    "problem": {"kind": "policy-evaluation", "noise": 0.1},
    "algorithm": [
        {"kind": "dfab", "steps": {"x": 0.01, "u": 0.05, "z": 0.05}},
        {"kind": "fab", "penalty": 50, "steps": 0.02},
    ],
}
COMMAND = os.environ.get("FABNET_COMMAND") or shutil.which("fabnet")


def test_records_are_columns_and_figures_show_themselves():
    result = fabnet.run(EXPERIMENT, record__every=20)
    assert list(result.records["round"]) == [0, 20, 40] * 4
    assert result.records["relative_error"].dtype == float and set(result.records["label"]) == {
        "dfab",
        "fab",
    }
    assert len(result.summary["runs"]) == 4
    assert (
        all(figure._repr_svg_().startswith("<svg") for figure in result.figures.values())
        and result.figures
    )
    assert result._repr_html_().count("<svg") == len(result.figures)


def test_runs_leave_their_solutions():
    result = fabnet.run(EXPERIMENT, record__solutions="all")
    answer = result.solution("fab", seed=1)
    assert (answer.metadata["label"], answer.metadata["seed"], answer.metadata["round"]) == (
        "fab",
        "1",
        "40",
    )
    assert answer.agents_x.shape == (5, len(answer.x)) and answer.agents_y.shape == (
        5,
        len(answer.y),
    )
    assert np.allclose(answer.agents_x.mean(0), answer.x) and np.allclose(
        answer.agents_y.mean(0), answer.y
    )
    assert not np.array_equal(answer.x, result.solution("fab", seed=0).x)
    assert np.array_equal(result.solution("fab").x, result.solution("fab", seed=0).x)
    assert answer.model == {} and [len(own) for own in answer.own] == [0] * 5
    with pytest.raises(ValueError, match="'dfab', 'fab'"):
        result.solution()
    with pytest.raises(ValueError, match="no run"):
        result.solution("fab", seed=9)
    with pytest.raises(ValueError, match="record.solutions"):
        fabnet.run(EXPERIMENT, record__solutions="none").solution("fab")
    mean = fabnet.run(EXPERIMENT).solution("fab", seed=1)
    assert np.array_equal(mean.x, answer.x) and mean.agents_x is None and mean.own is None


def test_a_file_and_a_dict_are_the_same(tmp_path):
    file = tmp_path / "same.toml"
    file.write_text(fabnet._toml.text(EXPERIMENT))
    one, other = fabnet.run(EXPERIMENT, name="same"), fabnet.run(file, out=tmp_path / "out")
    assert other.path == tmp_path / "out"
    for name in set(one.records) - {"seconds"}:
        assert np.array_equal(
            one.records[name], other.records[name], equal_nan=one.records[name].dtype == float
        )
    with pytest.raises(ValueError, match="holds results already"):
        fabnet.run(file, out=tmp_path / "out")


@pytest.mark.skipif(COMMAND is None, reason="FABNET_COMMAND does not name the command")
def test_the_command_gives_the_same_records_to_the_last_bit(tmp_path):
    file = tmp_path / "same.toml"
    file.write_text(fabnet._toml.text(EXPERIMENT))
    subprocess.run([COMMAND, "run", file, "--out", tmp_path / "command", "--quiet"], check=True)
    fabnet.run(file, out=tmp_path / "python", threads=1)

    def rows(folder):
        lines = (tmp_path / folder / "records.csv").read_text().splitlines()
        cells = [line.split(",") for line in lines]
        seconds = cells[0].index("seconds")
        return [row[:seconds] + row[seconds + 1 :] for row in cells]

    assert rows("command") == rows("python")
    plans = [(tmp_path / folder / "plan.toml").read_text() for folder in ["command", "python"]]
    assert plans[0] == plans[1]


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="algorithm.kind|fabb"):
        fabnet.run({**EXPERIMENT, "algorithm": [{"kind": "fabb"}]})
    with pytest.raises(ValueError, match="roundz"):
        fabnet.run(EXPERIMENT, roundz=3)
    with pytest.raises(TypeError, match="cannot be a setting"):
        fabnet.run({**EXPERIMENT, "rounds": None})
    with pytest.raises(FileNotFoundError):
        fabnet.run(pathlib.Path("nowhere.toml"))


def test_what_can_be_known_before():
    check = fabnet.check(EXPERIMENT)
    assert "agents" in check.text and not check.obstacles
    assert {"fab", "dfab"} <= set(fabnet.list_algorithms()) and "ring" in fabnet.list_topologies()
    assert fabnet.list_problems() and fabnet.list_weights() and fabnet.list_metrics()


def test_ctrl_c_stops_a_run():
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        fabnet.run(EXPERIMENT, rounds=1_000_000_000)
