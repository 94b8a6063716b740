"""TLS handshakes with nodes by strangers, who have no certificate of the run."""

import ssl

from certificates import PAST, forge
from cluster import GUEST
from expect import Rows, expect, wait
from tls_client import context, shake_hands

ROWS = Rows("stranger")


def counted(stage, reason, more, act):
    """Expect that the first node counts at least this many more refusals because of an act."""
    node = stage.honest[0]
    before = node.refused(reason)
    said = act(node)
    wait(
        f"{more} more refusals for `{reason}` are counted, {node.refused(reason) - before} are",
        lambda: node.refused(reason) >= before + more,
        30,
    )
    return f"{said}; {node.refused(reason) - before} counted"


def refused_handshake(stage, made, *reasons):
    """Expect a refusal for one of these reasons, which is counted as that of a certificate."""

    def act(node):
        said = shake_hands(node, made(node))
        expect(said is not None, "the handshake was accepted")
        fits = not reasons or any(reason in said for reason in reasons)
        expect(fits, f"refused, but as `{said}`")
        return f"refused: {said}"

    return counted(stage, "certificate", 1, act)


@ROWS.row(
    "tls-no-certificate",
    "a TLS client without a certificate",
    "refused by an alert, counted as `certificate`",
    quick=True,
)
def no_certificate(stage):
    return refused_handshake(stage, context, "certificate required")


@ROWS.row(
    "tls-self-signed",
    "a certificate in the name of a member that signs itself",
    "refused by an alert, counted as `certificate`",
    quick=True,
)
def self_signed(stage):
    files = forge(stage.folder / "forged", "self", "/CN=beta")
    return refused_handshake(stage, lambda node: context(node, files), "unknown ca", "certificate")


@ROWS.row(
    "tls-other-authority",
    "a certificate in the name of a member by another authority of `fabnet pki`",
    "refused by an alert, counted as `certificate`",
)
def other_authority(stage):
    files = foreign(stage)
    pair = (files["certificate"], files["key"])
    reasons = ("unknown ca", "certificate", "decrypt error")
    return refused_handshake(stage, lambda node: context(node, pair), *reasons)


def foreign(stage):
    """The certificate of the guest by an authority of its own."""
    folder = stage.folder / "foreign"
    if not folder.exists():
        stage.fabnet("pki", "init", folder)
        stage.fabnet("pki", "issue", folder, GUEST)
    return stage.certificate(GUEST, folder)


@ROWS.row(
    "tls-expired",
    "a certificate of the run's authority that has expired",
    "refused by an alert, counted as `certificate`",
    quick=True,
)
def expired(stage):
    files = forge(stage.folder / "forged", "old", "/CN=beta", stage.pki, PAST)
    return refused_handshake(stage, lambda node: context(node, files), "expired")


@ROWS.row(
    "tls-1.0-and-1.1",
    "TLS 1.0 and 1.1 with the certificate of a member",
    "refused, counted as `certificate`",
    quick=True,
)
def old_versions(stage):
    pair = (stage.pki / f"{GUEST}.pem", stage.pki / f"{GUEST}.key")
    said = []
    for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):

        def made(node, version=version):
            return context(node, pair, version, version)

        said.append(refused_handshake(stage, made, "version", "handshake"))
    return said[-1]


@ROWS.row(
    "tls-wrong-alpn",
    "offers HTTP/2 and HTTP/1.1 by ALPN, without a certificate",
    "refused, counted as `certificate`",
)
def wrong_alpn(stage):
    def made(node):
        offer = context(node)
        offer.set_alpn_protocols(["h2", "http/1.1"])
        return offer

    return refused_handshake(stage, made)


@ROWS.row(
    "tls-certificate-with-another-key",
    "a node with the certificate of a member, which is public, and another key",
    "it ends with exit code 1 and the reason",
)
def without_key(stage):
    _, other = forge(stage.folder / "forged", "other", "/CN=beta", stage.pki)
    tls = {**stage.certificate(GUEST), "key": str(other)}
    thief = stage.impostor("thief", tls=tls)
    thief.start()
    return thief.refuses_to_run(1)
