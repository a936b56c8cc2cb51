"""Importing this module ties the process to its parent.

The server process from which slots are forked imports it first, so that no stop of the service leaves a process behind.
Nothing else may import it: a service would end with the terminal or the script that started it.
"""

from app.slots.parent import tie_to_parent

tie_to_parent()
