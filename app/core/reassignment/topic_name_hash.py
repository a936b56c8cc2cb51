"""The broker set of a topic by the hash of its name, as Cruise Control maps topics by default.

Sets are ordered by name. The first 32 bits of MurmurHash3 (x64, 128 bits) of the name, without their sign, seed a
linear congruential generator, which jumps from set to set (consistent hashing): a set that is added at the end takes
its share of topics, and no topic changes between the others.

Source: `TopicNameHashBrokerSetMappingPolicy` of Cruise Control; Guava, `Hashing.murmur3_128` and `consistentHash`;
Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm" (2014).
"""

_MASK = (1 << 64) - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
_LCG = 2862933555777941757
_INT_MAX = (1 << 31) - 1


def set_of_topic(topic: str, sets: int) -> int:
    """The index of a topic's set among `sets` > 0 of them, ordered by name.

    Examples
    --------
    >>> [set_of_topic(topic, 3) for topic in "ABCD"]
    [1, 0, 2, 2]
    """
    low = murmur3_128(topic.encode()) & 0xFFFF_FFFF
    signed = low - (1 << 32) if low > _INT_MAX else low
    # Java's Math.abs leaves the least integer negative.
    return _consistent(signed if signed == -(1 << 31) else abs(signed), sets)


def murmur3_128(data: bytes) -> int:
    """The first 64 bits of MurmurHash3 of 128 bits for x64, with seed 0.

    Examples
    --------
    >>> f"{murmur3_128(b'hello'):x}"
    'cbd8a7b341bd9b02'
    """
    first = second = 0
    whole = len(data) // 16 * 16
    for start in range(0, whole, 16):
        first ^= _mixed_first(int.from_bytes(data[start : start + 8], "little"))
        first = (_rotated(first, 27) + second) * 5 + 0x52DCE729 & _MASK
        second ^= _mixed_second(int.from_bytes(data[start + 8 : start + 16], "little"))
        second = (_rotated(second, 31) + first) * 5 + 0x38495AB5 & _MASK
    rest = data[whole:]
    first ^= _mixed_first(int.from_bytes(rest[:8], "little"))
    second ^= _mixed_second(int.from_bytes(rest[8:], "little"))
    first, second = first ^ len(data), second ^ len(data)
    first = first + second & _MASK
    second = second + first & _MASK
    return _finished(first) + _finished(second) & _MASK


def _consistent(seed: int, buckets: int) -> int:
    state, candidate = seed & _MASK, 0
    while True:
        state = state * _LCG + 1 & _MASK
        uniform = ((state >> 33) + 1) / (1 << 31)
        following = int((candidate + 1) / uniform)
        if following >= buckets:
            return candidate
        candidate = following


def _mixed_first(word: int) -> int:
    return _rotated(word * _C1 & _MASK, 31) * _C2 & _MASK


def _mixed_second(word: int) -> int:
    return _rotated(word * _C2 & _MASK, 33) * _C1 & _MASK


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 64 - bits) & _MASK


def _finished(word: int) -> int:
    word = (word ^ word >> 33) * 0xFF51AFD7ED558CCD & _MASK
    word = (word ^ word >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return word ^ word >> 33
