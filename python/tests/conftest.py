"""What all tests need."""

import signal

# Whoever runs tests in the background of a shell has Ctrl-C ignored, and so would we.
signal.signal(signal.SIGINT, signal.default_int_handler)
