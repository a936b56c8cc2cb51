"""Processes that compute and can be stopped: for requests of the API, and for jobs of a worker.

admission.py  how many are served concurrently, how many wait, and when one is rejected; how long a request is
              expected to wait, from how long others took
pool.py       the processes, by lane; started, called, stopped and replaced
server.py     the process that slots are forked from
process.py    the process of a slot: answers one at a time, within its limit on memory; is killed when its parent ends
in_place.py   functions that block, in a thread or in place
tied.py       processes that end with their parent
"""
