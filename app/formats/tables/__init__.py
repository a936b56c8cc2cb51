"""Plans and scenarios as tables: CSV, Markdown, Arrow and Parquet.

placement_tables.py     a placement
reassignment_tables.py  the partitions that a reassignment changes
reassignment_diffs.py   the same as text and Markdown, with the transfers between brokers
load_tables.py          the loads of brokers
loss_tables.py          the loads of the remaining brokers after each loss
reader_tables.py        the member that each partition of a group is assigned to
task_tables.py          the clients of each task of a Streams application
scenario_tables.py      scored scenarios
topic_tables.py         the columns of the tables by topic and partition
"""
