"""Pages, pictures and charts, rendered on the server, without files of other hosts; of use without a script.

console.py           all pages as one router
clusters/            `/` and `/clusters/{name}`: health, the map of brokers, losses, history
plans.py             `/plans/{id}`: the page of a plan, its status, its picture. views.py defines what differs between
                     kinds; replica_plans.py, reassignment_plans.py, group_plans.py and streams_plans.py implement it,
                     with group_words.py for sentences about groups and batch_states.py for brokers after each batch
sweeps/              `/sweeps` and `/sweeps/{id}`: progress, charts, scenarios
lists.py             `/plans` and `/jobs`
plan_forms.py        `/plan`: requests as forms; reassignment_form.py reads the fields of a change of a cluster
topic_form.py        `/plan/replicas`: the form of a new topic; first_plan.py has its fields and their request
guide.py             `/guide`: the documentation, with a search
reference.py         `/docs`, `/redoc`, the OpenAPI document, the pages of codes
charts.py            charts as Vega-Lite specifications, SVG and PNG
pictures.py          racks as panels with bars: rack_columns.py lays them out, rack_bars.py draws them, svg.py
                     writes the elements; picture_files.py delivers them as SVG and PNG
placement_picture.py brokers in their racks, and partition_matrix.py the partitions of small plans beneath
moves_picture.py     brokers before and after a reassignment, and moves_matrix.py transfers between brokers
reading_picture.py   members in their racks, and the partitions that each reads in rack
tasks_picture.py     Streams clients in their zones, and the tasks of each
pages.py             templates and the headers of every page
assets.py            style sheets, scripts and icon, cached by browsers
"""
