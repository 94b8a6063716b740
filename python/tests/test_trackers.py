"""Tests of what other programs get: TensorBoard, Weights & Biases, MLflow and matplotlib."""

import builtins
import pathlib
import re
import struct

import fabnet
import numpy as np
import pytest

EXPERIMENT = {
    "agents": 4,
    "rounds": 40,
    "seeds": 2,
    "problem": {"kind": "policy-evaluation"},
    "algorithm": [
        {"label": "a/b: slow", "kind": "fab", "penalty": 50, "steps": 0.01},
        {"label": "fast", "kind": "fab", "penalty": 50, "steps": 0.02},
    ],
    # The bias has no value for a method without z, the mass residual is 0 up to rounding.
    "record": {"metrics": ["relative_error", "penalty_bias", "mass_residual"]},
}
GUIDE = (pathlib.Path(__file__).parents[2] / "docs" / "python.md").read_text()


@pytest.fixture(scope="module")
def result():
    return fabnet.run(EXPERIMENT, record__every=10)


def block(name):
    """Return the program of the guide that a comment marks."""
    return re.search(rf"<!-- checked: {name} -->\n```python\n(.*?)```", GUIDE, re.S)[1]


def without(package, monkeypatch):
    """Let the import of a package fail, as if it were not installed."""
    imported = builtins.__import__

    def refuse(name, *more):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return imported(name, *more)

    monkeypatch.setattr(builtins, "__import__", refuse)


def events(path):
    """Read an event file: records of a length and its checksum, an event and its checksum."""
    from tensorboardX.proto.event_pb2 import Event

    contents, place = path.read_bytes(), 0
    while place < len(contents):
        (length,) = struct.unpack_from("<Q", contents, place)
        yield Event.FromString(contents[place + 12 : place + 12 + length])
        place += 12 + length + 4


def test_tensorboard_has_every_number(result, tmp_path):
    pytest.importorskip("tensorboardX")
    result.to_tensorboard(tmp_path)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("*/*")} == {
        f"{label}/seed-{seed}" for label in ["a%2Fb%3A slow", "fast"] for seed in [0, 1]
    }
    for (label, seed), records in result.by_run().items():
        label = "fast" if label == "fast" else "a%2Fb%3A slow"
        (file,) = (tmp_path / label / f"seed-{seed}").iterdir()
        found = {}
        for event in events(file):
            for value in event.summary.value:
                rows = found.setdefault(value.tag, [])
                rows.append((event.step, event.wall_time, value.simple_value))
        assert found.keys() == {
            "bytes_per_agent",
            "relative_error",
            "penalty_bias",
            "mass_residual",
        }
        for name, rows in found.items():
            rounds, seconds, values = map(np.array, zip(*rows))
            assert np.array_equal(rounds, records["round"])
            assert np.array_equal(seconds, records["seconds"])
            assert np.array_equal(values, records[name].astype(np.float32))
    with pytest.raises(FileExistsError, match="another folder"):
        result.to_tensorboard(tmp_path)


def test_tensorboard_leaves_out_what_means_nothing(tmp_path):
    pytest.importorskip("tensorboardX")
    result = fabnet.run(EXPERIMENT, algorithm=[{"kind": "dfab", "steps": 0.01}], seeds=1)
    assert np.isnan(result.records["penalty_bias"]).all()
    result.to_tensorboard(tmp_path)
    (file,) = tmp_path.glob("*/*/*")
    tags = {value.tag for event in events(file) for value in event.summary.value}
    assert "relative_error" in tags and "penalty_bias" not in tags


def test_tensorboard_itself_reads_the_events(result, tmp_path):
    accumulators = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="tensorboard has 80 MB: release/check installs it",
    )
    result.to_tensorboard(tmp_path)
    accumulator = accumulators.EventAccumulator(str(tmp_path / "fast" / "seed-1")).Reload()
    records = result.by_run()["fast", 1]
    found = accumulator.Scalars("relative_error")
    assert [event.step for event in found] == list(records["round"])
    assert np.array_equal(
        [event.value for event in found], records["relative_error"].astype(np.float32)
    )


def logged(contents, header=7, block=32768):
    """Read the records of a log in the form of LevelDB, which wandb writes when it is offline.

    A record is one or several pieces; each has a checksum, a length, and whether it is the whole
    (1), the first (2), a middle (3) or the last one (4). No piece crosses the end of a block.
    """
    place, record = header, b""
    while place + 7 <= len(contents):
        left = block - place % block
        if left < 7:
            place += left
            continue
        length, kind = struct.unpack_from("<HB", contents, place + 4)
        record += contents[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):
            yield record
            record = b""


def test_the_lines_for_wandb_log_every_number(result, tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="wandb has 99 MB: release/check installs it")
    from wandb.proto.wandb_internal_pb2 import Record

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    exec(block("wandb"), {"result": result})
    files = sorted(tmp_path.glob("wandb/offline-run-*/*.wandb"))
    found = {}
    for file in files:
        rows, name = [], None
        for record in map(Record.FromString, logged(file.read_bytes())):
            if record.WhichOneof("record_type") == "run":
                name = record.run.display_name
            for item in record.history.item:
                key = item.key or "/".join(item.nested_key)
                if key in ("relative_error", "_step"):
                    rows.append((key, float(item.value_json)))
        found[name] = rows
    assert len(files) == 4
    for (label, seed), records in result.by_run().items():
        rows = found[f"{label}, seed {seed}"]
        assert [value for key, value in rows if key == "relative_error"] == list(
            records["relative_error"]
        )
        assert [value for key, value in rows if key == "_step"] == list(records["round"])


def test_the_lines_for_mlflow_log_every_number(result, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="mlflow-skinny has 115 MB: see release/check")
    monkeypatch.chdir(tmp_path)
    # A store of files needs neither a server nor a database.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    exec(block("mlflow"), {"result": result})
    client = mlflow.MlflowClient()
    experiment = client.get_experiment_by_name("fabnet")
    runs = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}
    assert len(runs) == 4
    for (label, seed), records in result.by_run().items():
        run = runs[f"{label}, seed {seed}"]
        assert run.data.params["penalty"] == "50.0"
        history = client.get_metric_history(run.info.run_id, "relative_error")
        history.sort(key=lambda metric: metric.step)
        assert [metric.step for metric in history] == list(records["round"])
        assert [metric.value for metric in history] == list(records["relative_error"])


def test_plots_show_the_records(result):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = result.plot()
    assert axes.get_ylabel() == "relative_error" and axes.get_xlabel() == "round"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a/b: slow", "fast"]
    curves = zip(axes.get_lines(), result.by_run().values(), strict=True)
    for line, records in curves:
        assert np.array_equal(line.get_ydata(), records["relative_error"])
    same = result.plot("bytes_per_agent", x="seconds", ax=axes)
    assert same is axes and axes.get_xlabel() == "seconds" and len(axes.get_lines()) == 8
    with pytest.raises(ValueError, match="'error'.*relative_error"):
        result.plot("error")


def test_plots_have_a_logarithmic_axis_where_values_differ_widely():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from fabnet._plot import plot_records

    def scale(*values):
        records = {"round": np.arange(len(values)), "value": np.array(values)}
        return plot_records({"": [records]}, "value", "round", None).get_yscale()

    assert scale(1.0, 0.5, 1e-3) == scale(0.0, 1.0, 1e-3, np.nan) == "log"
    assert scale(1.0, 0.5) == scale(-1.0, 1e-6, 1.0) == scale(0.0, 0.0) == "linear"


@pytest.mark.parametrize(
    ("package", "use"),
    [
        ("matplotlib", lambda result, folder: result.plot()),
        ("tensorboardX", lambda result, folder: result.to_tensorboard(folder)),
    ],
)
def test_what_is_missing_is_named(package, use, result, tmp_path, monkeypatch):
    without(package, monkeypatch)
    with pytest.raises(ImportError, match=f"pip install {package}"):
        use(result, tmp_path)
