"""Tests of the page of ``fabnet watch`` in a notebook."""

import html
import os
import pathlib
import re
import shutil
import subprocess

import fabnet
import pytest
from test_experiments import COMMAND, EXPERIMENT

WATCH_TESTS = pathlib.Path(__file__).parents[2] / "tests" / "watch"
SCRIPTS = ("notebook.mjs", "testkit.mjs")
# Where tests/watch/run.sh has installed what drives a browser.
INSTALLED = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "watch-tests"


@pytest.fixture(scope="module")
def result():
    return fabnet.run(EXPERIMENT, watch=True)


def test_a_recorded_run_shows_itself(result, tmp_path):
    page = result.watch("fab", seed=1)
    assert page.html.startswith("<!doctype html>") and ': fab, seed 1"' in page.html
    frame = page._repr_html_()
    assert re.match(r'<iframe srcdoc="[^"]*" sandbox="allow-scripts" [^>]*></iframe>$', frame)
    assert html.unescape(re.search('srcdoc="([^"]*)"', frame)[1]) == page.html
    assert 'height="300"' in result.watch("fab", height=300)._repr_html_()
    assert page.save(tmp_path / "run.html").read_text(encoding="utf-8") == page.html
    assert len(repr(page)) < 100


@pytest.mark.skipif(COMMAND is None, reason="FABNET_COMMAND does not name the command")
def test_the_page_is_that_of_the_command(result, tmp_path):
    number = next(
        run["run"] for run in result.summary["runs"] if (run["label"], run["seed"]) == ("dfab", 1)
    )
    exported = tmp_path / "run.html"
    subprocess.run(
        [COMMAND, "watch", result.path, "--run", str(number), "--export", exported], check=True
    )
    assert result.watch("dfab", seed=1).html == exported.read_text(encoding="utf-8")


def test_recording_changes_no_number(result):
    plain = fabnet.run(EXPERIMENT)
    assert not (plain.path / "watch").exists()
    assert list(plain.records["relative_error"]) == list(result.records["relative_error"])


def test_what_is_missing_is_named(result):
    with pytest.raises(ValueError, match="'dfab', 'fab'"):
        result.watch()
    with pytest.raises(ValueError, match="watch=True"):
        fabnet.run(EXPERIMENT).watch("fab")
    (result.path / "watch" / "0").write_bytes(b"something else")
    with pytest.raises(RuntimeError, match="watch/0"):
        result.watch("dfab", seed=0)


@pytest.mark.skipif(
    not (INSTALLED / "node_modules").is_dir() or shutil.which("chromium") is None,
    reason="needs chromium, and what tests/watch/run.sh installs in CARGO_TARGET_DIR",
)
def test_the_policy_holds_in_a_notebook(result, tmp_path):
    page = result.watch("fab", seed=1)
    (tmp_path / "frame.html").write_text(page._repr_html_())
    # Somebody else's script and picture, as if they had got into the page.
    planted = page.html.replace("<main", "<script>window.planted = 1</script><main", 1)
    planted = planted.replace("<main", '<img src="http://127.0.0.1:9/planted.png"><main', 1)
    assert planted != page.html
    (tmp_path / "planted.html").write_text(fabnet.Page(planted)._repr_html_())
    # Modules are found beside the script.
    script, _ = [shutil.copy(WATCH_TESTS / name, INSTALLED) for name in SCRIPTS]
    subprocess.run(["node", script, tmp_path], check=True, timeout=120)
