"""Kafka Streams' task assignors.

high_availability.py      KIP-441, the default since 2.6
movements_kernel.py       its movements of tasks to caught-up clients
client_queue_kernel.py    the priority queue of these movements, slot by slot as in Java
sticky.py                 the default before 2.6, and the fallback; placement of its tasks one by one
"""
