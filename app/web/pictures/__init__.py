"""Pictures as SVG: racks as panels, with a bar for each broker, member or client.

rendering.py         a whole picture: title, facts, legend, panels
rack_columns.py      lays panels out; rack_bars.py draws them, svg.py writes the elements
placement.py         brokers in their racks, and the partitions of small plans beneath
moves.py             brokers before and after a reassignment, and transfers between brokers
members.py           members of a group in their racks, Streams clients in their zones
waves.py             brokers by the wave in which they restart and their rack
intervals.py         consumers over time, with their rates and movement
files.py             pictures as files: SVG with or without a theme, PNG
"""
