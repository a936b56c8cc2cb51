"""Replicas balanced by load: where they may be, a first place for each, its repair, and what bounds both.

by_load.py               the verb
rules.py                 what is asked, as the arrays that compiled loops take
levels.py                the lowest ceiling and the highest floor of brokers' loads, if replicas could be cut to pieces
sets_kernel.py           the cheapest legal set of brokers for one partition
first_places_kernel.py   what stays where it is, and a first place for what cannot
held_kernel.py           who holds which replica, and whether one may go elsewhere
repair.py                a legal placement, mended step by step; its loops:
    relief_kernel.py     brokers above a ceiling give replicas, which are dealt out; covers_kernel.py what costs least
    filling_kernel.py    brokers below a floor take some
    homecoming_kernel.py replicas that were moved for nothing go home
attempts.py              a placement for a band of loads, by these loops
prices.py                the least movement by duality: a price for each broker's load; prices_kernel.py its loop
"""
