"""Importing this module ties the process to its parent, and lets the process that listens come first.

The server process from which slots are forked imports it first, so that no stop of the service leaves a process behind.
Nothing else may import it: a service would end with the terminal or the script that started it.
"""

import gc
import os
import signal

from app.slots.process import SERVER_NAME, name_process, tie_to_parent

_NICENESS = 5

tie_to_parent()
name_process(SERVER_NAME)
signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal
os.nice(_NICENESS)
gc.disable()  # what it imports stays; each slot enables it
