"""Importing this module ties the process to its parent, and lets the process that listens come first.

The server process from which slots are forked imports it first, so that no stop of the service leaves a process behind.
Nothing else may import it: a service would end with the terminal or the script that started it.
"""

import os

from app.slots.parent import tie_to_parent

_NICENESS = 5

tie_to_parent()
os.nice(_NICENESS)
