"""Java's Random, hashCode and HashMap order, as far as results of Kafka depend on them.

random.py          java.util.Random, Collections.shuffle; independent seeds of many draws
hashes.py          hashCode and compareTo of the classes that Kafka uses as keys
hash_map.py        the order in which a HashMap or a HashSet iterates
tree_bin.py        the bins of a HashMap that have become trees
priority_queue.py  the order in which a PriorityQueue is polled
"""

from app.core.jvm.hash_map import JavaHashMap, JavaHashSet, hash_order, string_hash_order
from app.core.jvm.hashes import KeyType
from app.core.jvm.priority_queue import JavaPriorityQueue
from app.core.jvm.random import JavaRandom, independent_seed
