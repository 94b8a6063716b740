"""What members can do, and those who have the certificate of one."""

import contextlib
import random
import shutil
import signal
import ssl
import time

from certificates import forge
from cluster import GUEST, TICK, Cluster
from expect import Rows, expect, wait
from handshakes import foreign
from tls_client import connect, context, is_closed

ROWS = Rows("member")


def not_admitted(stage, impostor, *says, reason=None):
    """Expect that a node is not let in, says so within 15 s, and is counted for this reason."""
    counts = {node.name: node.refused(reason) for node in stage.honest} if reason else {}
    begun = time.monotonic()
    impostor.start()
    impostor.refuses_to_run(1, "not admitted", *says)
    said = f"exit code 1 after {time.monotonic() - begun:.0f} s"
    if reason:

        def counted():
            return sum(node.refused(reason) - counts[node.name] for node in stage.honest)

        # The status page is renewed a few times a second.
        more = wait(f"something is counted as `{reason}`", counted, 5)
        said += f", {more} counted as `{reason}`"
    return said


@ROWS.row(
    "member-in-another-name",
    "a node in the name of the guest, with the certificate of gamma",
    "not admitted, exit code 1 within 15 s, counted as `access`",
)
def another_name(stage):
    impostor = stage.impostor("borrowed", tls=stage.certificate("gamma"))
    return not_admitted(stage, impostor, reason="access")


@ROWS.row(
    "member-of-another-authority",
    "a node with a certificate of another authority",
    "not admitted, exit code 1 within 15 s, counted as `certificate`",
)
def another_authority(stage):
    impostor = stage.impostor("foreigner", tls=foreign(stage))
    return not_admitted(stage, impostor, reason="certificate")


@ROWS.row(
    "member-without-a-name",
    "nodes with certificates of the run's authority whose names are empty, `*`, or a key",
    "not admitted or refused at the start, exit code 1, for each",
)
def without_a_name(stage):
    subjects = {"nameless": "/O=nobody", "star": "/CN=*", "key": "/CN=delta\\/..\\/beta"}
    for name, subject in subjects.items():
        certificate, key = forge(stage.folder / "forged", name, subject, stage.pki)
        ca = str(stage.pki / "ca.pem")
        tls = {"ca": ca, "certificate": str(certificate), "key": str(key)}
        stage.impostor(name, tls=tls).start().refuses_to_run(1)
    return f"exit code 1 for all {len(subjects)}"


@ROWS.row(
    "member-not-in-the-list",
    "a node with a certificate of the run's authority that the others' files do not name",
    "not admitted, exit code 1",
)
def not_in_the_list(stage):
    if not (stage.pki / "omega.pem").exists():
        stage.fabnet("pki", "issue", stage.pki, "omega")
    impostor = stage.impostor("omega", node="omega", tls=stage.certificate("omega"))
    impostor.settings["member"][-1]["name"] = "omega"
    return not_admitted(stage, impostor)


@ROWS.row(
    "member-with-another-plan",
    "the guest with a plan of one round more",
    "`another manifest`, exit code 1, counted as `manifest`",
    quick=True,
)
def another_plan(stage):
    plan = stage.folder / "other.toml"
    plan.write_text(stage.experiment.read_text().replace("rounds = 1", "rounds = 2"))
    impostor = stage.impostor("planner", plan=str(plan))
    return not_admitted(stage, impostor, "another manifest", reason="manifest")


@ROWS.row(
    "member-of-another-run",
    "the guest in a run of another name",
    "not admitted, exit code 1: nobody subscribes to what it says",
)
def another_run(stage):
    return not_admitted(stage, stage.impostor("elsewhere", run="elsewhere"))


@ROWS.row(
    "member-with-other-agents",
    "the guest claims the agent of alpha as its own",
    "not admitted, exit code 1, counted as `manifest`",
)
def other_agents(stage):
    impostor = stage.impostor("greedy")
    own, others = impostor.settings["member"][-1], impostor.settings["member"]
    own["agents"], others[0]["agents"] = others[0]["agents"], own["agents"]
    return not_admitted(stage, impostor, reason="manifest")


@ROWS.row(
    "member-stops-reading",
    "the guest is stopped (SIGSTOP) for 15 s, its connections stay open",
    "the others give it up within 60 s and go on, and go on with it afterwards",
    quick=True,
)
def stops_reading(stage):
    with stage.guest() as guest:
        guest.send(signal.SIGSTOP)
        begun = time.monotonic()
        stage.members(len(stage.honest), 60)
        without = time.monotonic() - begun
        time.sleep(max(0, 15 - without))
        guest.send(signal.SIGCONT)
        begun = time.monotonic()
        stage.join(guest)
        back = time.monotonic() - begun
    return f"given up after {without:.0f} s, back after {back:.0f} s"


@ROWS.row(
    "member-restarts-in-a-loop",
    "the guest is killed and started again ten times, a second or two apart",
    "the others go on, it is a member at the end, memory and descriptors are flat",
)
def restarts(stage):
    chance = random.Random(3)
    with stage.guest() as guest:
        for _ in range(10):
            guest.kill()
            guest.start()
            time.sleep(chance.uniform(0.5, 2))
        stage.join(guest)
    return "ten times"


@ROWS.row(
    "member-with-an-old-state",
    "the guest is started with a copy of its state that is 100 rounds old",
    "it joins with a later incarnation, no mass is missing",
)
def old_state(stage):
    with stage.guest() as guest:
        agent = guest.wait("has a checkpoint", lambda agent: agent["checkpoint_age"] is not None)
        copied = guest.folder / "copied"
        shutil.rmtree(copied, ignore_errors=True)
        shutil.copytree(guest.state, copied)
        guest.wait("goes on", lambda now: now["round"] > agent["round"] + 100)
        guest.kill()
        shutil.rmtree(guest.state)
        copied.rename(guest.state)
        guest.start()
        stage.join(guest)
        again = guest.wait("is back", lambda now: now["round"] > agent["round"] + 120, 60)
        expect(again["incarnation"] > agent["incarnation"], "it has no later incarnation")
        residuals = [node.agent()["max_mass_residual"] for node in (guest, *stage.honest)]
        expect(residuals == [0] * len(residuals), f"mass residuals {residuals}")
    return f"incarnation {agent['incarnation']}, then {again['incarnation']}"


@ROWS.row(
    "member-twice",
    "two processes with the certificate of one member, each with a state folder of its own",
    "all others name it in `doubles` within 40 s, the run ends with exit code 1",
)
def twice(stage):
    cluster = Cluster(stage.binary, stage.folder / "doubles", run="doubles", rounds=1000)
    try:
        cluster.start()
        cluster.nodes[GUEST].start()
        cluster.members(len(cluster.honest) + 1)
        cluster.impostor("twin").start()
        begun = time.monotonic()
        for node in cluster.honest:
            wait(
                f"{node.name} names the double",
                lambda n=node: n.status()["doubles"] == [GUEST],
                40,
            )
        named = time.monotonic() - begun
        codes = [node.end(1000 * TICK + 60) for node in cluster.honest]
        expect(codes == [1] * len(codes), f"exit codes {codes}")
    finally:
        cluster.stop()
    return f"named after {named:.0f} s, exit codes {codes}"


@ROWS.row(
    "member-nonsense-inside-tls",
    "50 sessions with the certificate of a member that send random bytes",
    "all are closed within 40 s, no descriptors left",
    quick=True,
)
def nonsense_inside(stage):
    node, chance = stage.honest[0], random.Random(4)
    pair = (stage.pki / f"{GUEST}.pem", stage.pki / f"{GUEST}.key")
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(50):
            made = context(node, pair).wrap_socket(connect(node), server_hostname="localhost")
            clients.append(stack.enter_context(made))
            made.sendall(chance.randbytes(chance.randrange(1, 3000)))
        left = sum(not is_closed(client, 40) for client in clients)
        expect(left == 0, f"{left} sessions stay open")
    return f"all were closed within {time.monotonic() - begun:.0f} s"


@ROWS.row(
    "member-silent-sessions",
    "100 sessions with the certificate of a member that say nothing",
    "all are closed within 40 s, the real member can join",
)
def silent_sessions(stage):
    node = stage.honest[0]
    pair = (stage.pki / f"{GUEST}.pem", stage.pki / f"{GUEST}.key")
    made = context(node, pair, lowest=ssl.TLSVersion.TLSv1_3)
    clients = [made.wrap_socket(connect(node), server_hostname="localhost") for _ in range(100)]
    try:
        with stage.guest():
            pass
        begun = time.monotonic()
        left = sum(not is_closed(client, 40) for client in clients[::10])
        expect(left == 0, f"{left} of ten sessions stay open")
    finally:
        for client in clients:
            client.close()
    return f"closed, the last after {time.monotonic() - begun:.0f} s"
