"""TLS connections to the port at which nodes listen for each other, as anybody may open them."""

import contextlib
import socket
import ssl


def port_of(node):
    """The port at which a node listens for others."""
    mine = [member for member in node.settings["member"] if member["name"] == node.name]
    return int(mine[0]["address"].split(":")[1])


def connect(node, seconds=5):
    connection = socket.create_connection(("127.0.0.1", port_of(node)), timeout=seconds)
    return connection


def is_closed(connection, seconds=30):
    """Whether the other side closes a connection within this time, whatever it says before."""
    connection.settimeout(seconds)
    try:
        while connection.recv(4096):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def context(node, certificate=None, lowest=ssl.TLSVersion.TLSv1_2, highest=None):
    """A client's TLS that believes anybody, and shows this certificate if there is one."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    made.set_ciphers("ALL:@SECLEVEL=0")
    made.minimum_version = lowest
    made.maximum_version = highest or ssl.TLSVersion.TLSv1_3
    if certificate:
        made.load_cert_chain(*certificate)
    return made


def shake_hands(node, made):
    """Why the node refuses a TLS client; nothing if the session stands for a second."""
    with contextlib.closing(connect(node)) as plain:
        try:
            secure = made.wrap_socket(plain, server_hostname="localhost")
            secure.settimeout(1)
            # In TLS 1.3 the refusal of a certificate comes after the client's own handshake.
            if not secure.recv(1):
                return "closed"
        except TimeoutError:
            return None
        except ssl.SSLError as error:
            return (error.reason or str(error)).lower().replace("_", " ")
        except OSError as error:
            return type(error).__name__
    return None


def hello(made):
    """The first bytes of a TLS client."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = made.wrap_bio(incoming, outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()
