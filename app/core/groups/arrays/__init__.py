"""Partitions, members and racks as arrays, so that millions are few.

partition_table.py  every partition a row, and who holds it
owners.py           the one owner of each partition, for assignors that give it to one
owned.py  holdings.py    what members say they own
audiences.py  readership.py   who subscribes to what, alike members and topics counted once
member_order.py  ranges.py    how members stand in line, and a division among them
rack_index.py  rack_match.py  racks as numbers, and who reads in rack
weights.py          what partitions weigh
"""
