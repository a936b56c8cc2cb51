"""What people look at: pages and pictures, drawn on the server. No script, and nothing that is fetched from elsewhere.

home.py              `/`: the newest plans, and the form that makes the first one
first_plan.py        that form: what was typed, what is wrong with it and where, what it asks for
plans.py             `/plans/{id}`: a plan to look at; views.py says what differs between kinds, and
                     replica_plans.py, reassignment_plans.py, group_plans.py and streams_plans.py have it,
                     group_words.py the sentences about groups
pictures.py          racks as panels with bars in them: rack_columns.py lays them out, rack_bars.py draws them, on the
                     little of SVG that svg.py writes
placement_picture.py brokers in their racks, and partition_matrix.py the partitions of small plans beneath
moves_picture.py     brokers before and after a reassignment, and moves_matrix.py transfers between brokers
reading_picture.py   members in their racks, and what each reads in rack
tasks_picture.py     Streams clients in their zones, and the tasks of each
pages.py             templates and the headers of every page
assets.py            style sheets and icon, kept by browsers for ever
"""
