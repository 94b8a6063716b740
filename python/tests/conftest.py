"""The setup that all tests share."""

import signal

# A shell starts background processes with SIGINT ignored; tests of Ctrl-C need it.
signal.signal(signal.SIGINT, signal.default_int_handler)
