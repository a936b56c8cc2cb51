"""Pages and pictures, rendered on the server, without scripts and without files from other hosts.

home.py              `/`: the newest plans, and the form that makes the first one
first_plan.py        that form: its fields, their errors, and the request that they make
plans.py             `/plans/{id}`: the page of a plan. views.py defines what differs between kinds;
                     replica_plans.py, reassignment_plans.py, group_plans.py and streams_plans.py implement it,
                     with group_words.py for sentences about groups
pictures.py          racks as panels with bars: rack_columns.py lays them out, rack_bars.py draws them, svg.py
                     writes the elements
placement_picture.py brokers in their racks, and partition_matrix.py the partitions of small plans beneath
moves_picture.py     brokers before and after a reassignment, and moves_matrix.py transfers between brokers
reading_picture.py   members in their racks, and the partitions that each reads in rack
tasks_picture.py     Streams clients in their zones, and the tasks of each
pages.py             templates and the headers of every page
assets.py            style sheets and icon, cached by browsers
"""
