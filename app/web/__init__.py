"""What people look at: pages and pictures, drawn on the server. No script, and nothing that is fetched from elsewhere.

home.py              `/`: the newest plans, and the form that makes the first one
first_plan.py        that form: what was typed, what is wrong with it and where, what it asks for
plans.py             `/plans/{id}`: a plan to look at, and how to hand it to Kafka
pictures.py          a placement as racks × brokers: broker_columns.py lays it out, broker_bars.py draws the counts,
                     partition_matrix.py the partitions of small plans, on the little of SVG that svg.py writes
pages.py             templates and the headers of every page
assets.py            style sheets and icon, kept by browsers for ever
"""
