"""What whoever runs a node can write into its file by mistake: each is refused with its reason.

Every mistake is a row of `MISTAKES`: a name, what is wrong, a change of the settings of the guest
or of the text of its file, the exit code, and words that the log must have.
"""

import os
import pathlib
import shutil
import socket
import subprocess

from certificates import FUTURE, PAST, forge
from expect import Rows, Skipped, expect
from node import toml

ROWS = Rows("operator")


def setting(**changes):
    """Changes settings at the top of a node's file."""
    return lambda settings: settings.update(changes)


def tls(**changes):
    return lambda settings: settings["tls"].update(changes)


def member(place, **changes):
    return lambda settings: settings["member"][place].update(changes)


def without(*names):
    def change(settings):
        for name in names:
            del settings[name]

    return change


MISTAKES = [
    ("misspelt-key", "`linge = \"2s\"`", setting(linge="2s"), 2, ["linge"]),
    ("misspelt-key-of-tls", "`cerificate` in [tls]", tls(cerificate="a.pem"), 2, ["cerificate"]),
    ("misspelt-key-of-member", "`adress` in [[member]]", member(1, adress="h:1"), 2, ["adress"]),
    ("wrong-kind", "`agents = 0`", member(0, agents=0), 2, ["agents", "line"]),
    ("wrong-duration", "`checkpoint = \"soon\"`", setting(checkpoint="soon"), 2, ["write 50ms"]),
    ("no-members", "no [[member]]", without("member"), 2, ["member"]),
    ("no-plan", "no `plan`", without("plan"), 2, ["needs `plan`"]),
    ("no-certificates", "no [tls]", without("tls"), 2, ["[tls] is missing", "fabnet pki"]),
    ("tls-and-insecure", "[tls] and `insecure = true`", setting(insecure=True), 2, ["contradict"]),
    ("name-with-slash", "`run = \"a/b\"`", setting(run="a/b"), 2, ["`a/b` cannot be a name"]),
    ("name-with-wildcard", "`run = \"**\"`", setting(run="**"), 2, ["`**` cannot be a name"]),
    ("unknown-node", "`node` is no member", setting(node="omega"), 2, ["`omega`"]),
    ("same-name-twice", "two members of one name", member(1, name="alpha"), 2, ["two are called"]),
    ("same-agent-twice", "two members own agent 0", member(1, agents=[0]), 2, ["owned twice"]),
    ("missing-agent", "nobody owns agent 1", member(1, agents=[7]), 2, ["without a gap"]),
    ("too-few-agents", "fewer agents than in the plan", lambda s: s["member"].pop(0), 2, []),
    ("address-without-port", "an address without a port", member(0, address="h"), 2, ["host:port"]),
    ("port-too-large", "port 70000", member(0, address="h:70000"), 2, ["host:port"]),
    ("loss-above-1", "`loss = 1.5`", setting(loss=1.5), 2, ["loss"]),
    ("http-without-port", "`http = \"localhost\"`", setting(http="localhost"), 2, ["http"]),
    ("no-such-plan", "`plan` is not there", setting(plan="nowhere.toml"), 2, ["nowhere.toml"]),
    ("no-such-ca", "`ca` is not there", tls(ca="nowhere.pem"), 1, ["nowhere.pem"]),
    ("no-such-certificate", "`certificate` is not there", tls(certificate="no.pem"), 1, ["no.pem"]),
    ("no-such-key", "`key` is not there", tls(key="nowhere.key"), 1, ["nowhere.key"]),
]


def declare(name, wrong, change, code, says):
    @ROWS.row(f"file-{name}", wrong, f"exit code {code} and the reason", quick=True)
    def start(stage):
        impostor = stage.impostor("mistaken")
        change(impostor.settings)
        if impostor.settings["node"] == "omega":
            impostor.settings["member"][-1]["address"] = "127.0.0.1:1"
        impostor.start()
        return impostor.refuses_to_run(code, *says)


for mistake in MISTAKES:
    declare(*mistake)


@ROWS.row(
    "file-not-toml",
    "files that are empty, half, binary, a folder, 8 MiB of one key, 3,000 brackets",
    "exit code 2 for each, no panic",
    quick=True,
)
def not_toml(stage):
    impostor = stage.impostor("mistaken")
    whole = toml(impostor.settings)
    texts = ["", whole[: len(whole) // 2] + '"', "\0\1\2", "a" * (8 << 20), "a = " + "[" * 3000]
    for text in texts:
        impostor.forget_log()
        impostor.start(text).refuses_to_run(2)
    code, said = stage.fabnet("node", stage.folder, check=False)
    expect(code == 2 and str(stage.folder) in said, f"a folder: exit code {code}: {said}")
    return f"exit code 2 for all {len(texts) + 1}"


@ROWS.row(
    "file-port-in-use",
    "a port for others, or for the status, at which somebody else listens",
    "exit code 1, and the address of the status",
    quick=True,
)
def port_in_use(stage):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        impostor = stage.impostor("status-taken", http=address)
        impostor.start()
        said = impostor.refuses_to_run(1, address, "choose a free address")
        impostor = stage.impostor("port-taken")
        impostor.settings["member"][-1]["address"] = address
        impostor.start()
        impostor.refuses_to_run(1)
    return said


@ROWS.row(
    "file-two-members-one-port",
    "two members with the same address",
    "refused with its reason: one of them cannot be reached",
)
def two_members_one_port(stage):
    impostor = stage.impostor("same-port")
    first, second = impostor.settings["member"][:2]
    second["address"] = first["address"]
    impostor.start()
    return impostor.refuses_to_run(2, first["name"], second["name"], "the same address")


@ROWS.row(
    "key-unreadable",
    "a key with mode 0000, read by a user who may not",
    "exit code 1 and the file",
)
def unreadable_key(stage):
    impostor = stage.impostor("unreadable")
    key = impostor.folder / "own.key"
    shutil.copy(impostor.settings["tls"]["key"], key)
    key.chmod(0)
    impostor.settings["tls"]["key"] = str(key)
    if os.geteuid() != 0:
        impostor.start()
        return impostor.refuses_to_run(1, "own.key")
    # Root may read everything, so another user must try.
    path = impostor.folder / "node.toml"
    path.write_text(toml(impostor.settings))
    for folder in [impostor.folder, *impostor.folder.parents]:
        if folder != pathlib.Path("/") and not folder.stat().st_mode & 0o001:
            raise Skipped(f"{folder} is closed to other users")
    os.chown(impostor.folder, 65534, 65534)
    command = [str(stage.binary), "node", str(path)]
    done = subprocess.run(
        command, user=65534, group=65534, capture_output=True, text=True, timeout=20, check=False
    )
    said = done.stdout + done.stderr
    code = done.returncode
    expect(code == 1 and "own.key" in said, f"exit code {code}: {said[-300:]}")
    return "exit code 1, own.key is named"


@ROWS.row(
    "key-of-another",
    "a key that does not match the certificate",
    "exit code 1 and both files",
    quick=True,
)
def key_of_another(stage):
    impostor = stage.impostor("mixed")
    impostor.settings["tls"]["key"] = str(stage.pki / "beta.key")
    impostor.start()
    return impostor.refuses_to_run(1, "beta.key", "delta.pem")


@ROWS.row(
    "certificate-expired",
    "a certificate that has expired",
    "exit code 1, the dates, and the command that renews it",
    quick=True,
)
def expired(stage):
    return dated(stage, PAST, "has expired", "2020-01-01", "fabnet pki renew")


@ROWS.row(
    "certificate-to-come",
    "a certificate that is not valid yet",
    "exit code 1, the dates, and the time of this machine",
)
def to_come(stage):
    return dated(stage, FUTURE, "is not valid yet", "2046-01-01", "Set the clock")


def dated(stage, dates, *says):
    certificate, key = forge(stage.folder / "forged", "dated", "/CN=delta", stage.pki, dates)
    impostor = stage.impostor("dated")
    impostor.settings["tls"].update(certificate=str(certificate), key=str(key))
    impostor.start()
    return impostor.refuses_to_run(1, *says)


@ROWS.row(
    "certificate-nonsense",
    "certificates that are empty, half, a key, or random bytes",
    "exit code 1 and the file",
)
def nonsense(stage):
    whole = (stage.pki / "delta.pem").read_bytes()
    contents = [b"", whole[: len(whole) // 2], (stage.pki / "delta.key").read_bytes()]
    for content in [*contents, os.urandom(1000)]:
        impostor = stage.impostor("broken")
        (impostor.folder / "broken.pem").write_bytes(content)
        impostor.settings["tls"]["certificate"] = str(impostor.folder / "broken.pem")
        impostor.start()
        said = impostor.refuses_to_run(1, "broken.pem")
    return said


@ROWS.row(
    "plan-unfit",
    "plans with an unknown topology or section, `start = 9`, five agents, three seeds",
    "exit code 2 and the reason for each",
    quick=True,
)
def unfit_plan(stage):
    right = stage.experiment.read_text()
    changes = [
        ('"complete"', '"petersen"', "petersen"),
        ("start = 3", "start = 9", "start = 9"),
        ("agents = 4", "agents = 5", "agents"),
        ("seeds = 1", "seeds = 3", "seed"),
        ("tick = 0.05", "tick = 0.0", "tick"),
        ("[network]", "[netwrok]", "netwrok"),
        ('"policy-evaluation"', '"policy"', "policy"),
    ]
    for old, new, says in changes:
        expect(old in right, f"the plan has no {old}")
        impostor = stage.impostor("planned")
        plan = impostor.folder / "plan.toml"
        plan.write_text(right.replace(old, new))
        impostor.settings["plan"] = str(plan)
        impostor.start()
        impostor.refuses_to_run(2, says)
    return f"exit code 2 for all {len(changes)}"
