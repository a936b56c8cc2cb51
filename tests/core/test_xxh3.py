"""XXH3: the reference implementation's hashes, at every length at which another rule begins."""

import pytest

from app.core.xxh3 import xxh3_64

HASHES = {
    0: 0x2D06800538D394C2,
    1: 0xC44BDFF4074EECDB,
    3: 0xC3489259E968AD9E,
    4: 0xD3D60C1519014E89,
    8: 0xB88DEE77F6BF6980,
    9: 0x3688DCAD730D826,
    16: 0x9DA23836ADF2BE1E,
    17: 0xF34C3C9CF5A112D1,
    128: 0x4C659B745F435148,
    129: 0xB85222B83902B6E5,
    240: 0xD6DFBF67B0675B54,
    241: 0xC614C8C3575348C1,
    1024: 0xF22EF3DC84FF47EA,
    1025: 0x43F869A83769A435,
    5000: 0xCE29A19460EE1BFC,
}
"""By length, what xxHash 0.8.3 answers for bytes of which the n-th is 7n mod 251."""


@pytest.mark.parametrize("length", HASHES)
def test_it_is_the_reference_implementations(length: int) -> None:
    assert xxh3_64(bytes(7 * n % 251 for n in range(length))) == HASHES[length]
