"""Certificates that `fabnet pki` would not issue, made with OpenSSL from the keys of a run."""

import subprocess

CONFIG = """
[ca]
default_ca = run
[run]
database = {folder}/index
serial = {folder}/serial
new_certs_dir = {folder}
default_md = sha256
policy = any
unique_subject = no
copy_extensions = copy
[any]
organizationName = optional
commonName = optional
"""
HOSTS = "subjectAltName=DNS:localhost,IP:127.0.0.1"
PAST = ("20200101000000Z", "20200201000000Z")
FUTURE = ("20460101000000Z", "20460201000000Z")


def openssl(*words):
    subprocess.run(
        ["openssl", *map(str, words)], check=True, capture_output=True, stdin=subprocess.DEVNULL
    )


def forge(folder, name, subject, authority=None, dates=None):
    """A certificate with this subject, as `NAME.pem` and `NAME.key` in a folder.

    The authority is a folder with `ca.pem` and `ca.key`; without one, the certificate signs itself.
    `dates` are the first and the last moment of its validity.
    """
    folder.mkdir(exist_ok=True)
    key, certificate, request = (folder / f"{name}.{end}" for end in ("key", "pem", "csr"))
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    common = (*curve, "-keyout", key, "-subj", subject, "-addext", HOSTS)
    if authority is None:
        openssl("req", "-x509", "-days", 30, *common, "-out", certificate)
        return certificate, key
    openssl("req", "-new", *common, "-out", request)
    (folder / "index").write_text("")
    (folder / "serial").write_text("1000\n")
    config = folder / "openssl.cnf"
    config.write_text(CONFIG.format(folder=folder))
    signer = ("-cert", authority / "ca.pem", "-keyfile", authority / "ca.key")
    validity = ("-startdate", dates[0], "-enddate", dates[1]) if dates else ("-days", 30)
    files = ("-in", request, "-out", certificate, "-notext", "-batch")
    openssl("ca", "-config", config, *signer, *validity, *files)
    return certificate, key
