"""Sample grid indices without replacement, one at a time, in constant memory; and seeds of scenarios.

A generalised Feistel cipher is a bijection of the a·b pairs just above the grid's size, whatever its round function;
following the cycle past values beyond the grid makes it a bijection of the grid itself. So the k-th sampled index is a
function of (size, seed, k) alone, and no index is sampled twice.

Source: J. Black, P. Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002, methods 2 and 3.
"""

from hashlib import blake2b
from math import isqrt

_ROUNDS = 8
_SEED_BITS = 48


def sampled_index(size: int, *, seed: int, k: int) -> int:
    """The k-th index sampled from 0 … size − 1, for 0 ≤ k < size; all k together are a permutation.

    Examples
    --------
    >>> sorted(sampled_index(5, seed=1, k=k) for k in range(5))
    [0, 1, 2, 3, 4]
    """
    high = isqrt(size - 1) + 1 if size > 1 else 1
    low = -(-size // high)
    index = k
    while True:
        index = _permuted(index, high, low, seed)
        if index < size:
            return index


def _permuted(index: int, high: int, low: int, seed: int) -> int:
    left, right = index // low, index % low  # left < high, right < low
    for number in range(_ROUNDS):
        if number % 2 == 0:
            left = (left + mixed(seed, number, right)) % high
        else:
            right = (right + mixed(seed, number, left)) % low
    return left * low + right


def mixed(*numbers: int) -> int:
    """A 64-bit hash of all the numbers."""
    return int.from_bytes(blake2b(",".join(map(str, numbers)).encode(), digest_size=8).digest())


def scenario_seed(sweep_seed: int, index: int) -> int:
    """The seed of a scenario without one, of as many bits as the state of java.util.Random has."""
    return mixed(sweep_seed, index) >> (64 - _SEED_BITS)
