"""Kafka Streams' task assignors, replayed.

high_availability.py  KIP-441, the default since 2.6; movements_kernel.py : tasks go where their state is, by a
                      client_queue_kernel.py that is Java's own, slot by slot
sticky.py             the default before 2.6, and the fallback; sticky_hands.py : how it hands out tasks one by one;
                      task_pairs.py : which tasks have been together
"""
