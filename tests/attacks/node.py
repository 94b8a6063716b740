"""One `fabnet node` process: its file, its log, its status and what it uses of the machine."""

import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import urllib.request

from expect import expect, wait

REFUSED = re.compile(r'^fabnet_refused_total\{reason="(\w+)"\} (\d+)', re.MULTILINE)


def toml(settings):
    """Settings as the text of a TOML file: tables and lists of tables come last."""
    lines, tables = [], []
    for key, value in settings.items():
        if isinstance(value, dict):
            tables.append(f"[{key}]\n{toml(value)}")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            tables += [f"[[{key}]]\n{toml(entry)}" for entry in value]
        else:
            lines.append(f"{key} = {json.dumps(value)}\n")
    return "".join(lines + tables)


def get(address, page, seconds=3):
    """A page of a node's status server, as text; nothing if it does not answer."""
    try:
        with urllib.request.urlopen(f"http://{address}{page}", timeout=seconds) as answer:
            return answer.read().decode()
    except OSError:
        return None


class Node:
    """A node with a folder of its own. Its settings are those of its file, and can be changed."""

    def __init__(self, binary, folder, settings):
        self.binary = binary
        self.folder = pathlib.Path(folder)
        self.settings = settings
        self.process = None
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def name(self):
        return self.settings["node"]

    @property
    def state(self):
        return self.folder / self.settings["state"]

    @property
    def log(self):
        path = self.folder / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def forget_log(self):
        """Begin the log anew, so that what is found in it is of the next start."""
        (self.folder / "log").unlink(missing_ok=True)

    def start(self, text=None, limit=None):
        """Start the process, with this text as its file, or that of its settings.

        `limit` bounds the files that the process may have open.
        """
        path = self.folder / "node.toml"
        path.write_text(text if text is not None else toml(self.settings))
        command = [str(self.binary), "node", str(path)]
        bounded = limit and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                preexec_fn=bounded,
            )
        return self

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def send(self, what):
        self.process.send_signal(what)

    def stop(self, seconds=15):
        """Tell the process to leave, and return its exit code; it is killed if it does not."""
        if self.runs():
            self.send(signal.SIGCONT)
            self.send(signal.SIGTERM)
        return self.end(seconds, orderly=False)

    def kill(self):
        if self.runs():
            self.process.kill()
        return self.process.wait()

    def end(self, seconds=15, orderly=True):
        """Wait until the process has ended, and return its exit code."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            expect(not orderly, f"{self.name} has not ended within {seconds} s")
            return -9

    def refuses_to_run(self, code, *says, seconds=15):
        """Expect that the process ends with this exit code, these words, and without a panic."""
        found = self.end(seconds)
        last = self.log.strip().splitlines()[-1:] or ["nothing"]
        expect("panicked" not in self.log, f"a panic: {last[0]}")
        expect(found == code, f"exit code {found}, not {code}: {last[0][-200:]}")
        for words in says:
            expect(words in self.log, f"the log does not say `{words}`: {last[0][-300:]}")
        return f"exit code {found}: {shortened(last[0])}"

    def status(self):
        page = get(self.settings["http"], "/status")
        return json.loads(page) if page else None

    def agent(self):
        """The status of its first agent; nothing before there is one."""
        status = self.status()
        return status["agents"][0] if status and status["agents"] else None

    def refused(self, reason):
        """What it has refused for a reason so far, as `/metrics` counts it."""
        page = get(self.settings["http"], "/metrics") or ""
        return int(dict(REFUSED.findall(page)).get(reason, 0))

    def wait(self, what, condition, seconds=30):
        """Wait until the status of its agent is as a condition says."""

        def holds():
            expect(self.runs(), f"{self.name} has ended: {self.log.strip()[-300:]}")
            agent = self.agent()
            return agent if agent and condition(agent) else None

        return wait(f"{self.name} {what}", holds, seconds)

    def usage(self):
        """Its open files, and the memory that it holds, in MiB."""
        place = pathlib.Path(f"/proc/{self.process.pid}")
        pages = int((place / "statm").read_text().split()[1])
        return len(os.listdir(place / "fd")), pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def shortened(text, length=110):
    """The last part of a log line, without its time and its fields."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r"/\S*/(?=[\w.-]+)", "", text)
    return text if len(text) <= length else "…" + text[-length:]
