"""Importing this module loads every loop that is compiled, so that processes forked from this one share them.

Loops that are not compiled yet are left to the process that needs one: compiling all of them takes minutes.
"""

import gc
from threading import Event

from app.core.compiled.building import load_all, uncompiled

if not uncompiled():
    load_all(Event())
gc.collect()
gc.freeze()  # a collection in a forked process would look at, and so copy, all that it shares
