"""The rules by which standbys are placed.

policy.py   what a rule is: it places standbys, and says which may be moved afterwards
by_load.py  to whoever has the fewest tasks a thread
by_tags.py  KIP-708: apart in every listed client tag, as far as the clients allow
choice.py   which of them the high-availability assignor takes
"""
