"""What bodies are made of: the ChaCha8 key stream of a trial's seed, of which built-in endpoints check every byte.

The key is the seed's expansion by PCG32 (`rand_core::SeedableRng::seed_from_u64`), the nonce and the counter are 0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

MASK_32, MASK_64 = 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF
CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")
QUARTERS = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)  # fmt: skip
DOUBLE_ROUNDS = 4


def payload(seed: int, length: int) -> bytes:
    """The first bytes of the stream."""
    key = tuple(_pcg32(seed))
    blocks = (_block((*CONSTANTS, *key, counter & MASK_32, counter >> 32, 0, 0)) for counter in range(-(-length // 64)))
    return b"".join(blocks)[:length]


def _pcg32(state: int) -> Iterator[int]:
    for _ in range(8):
        state = (state * 6364136223846793005 + 11634580027462260723) & MASK_64
        xorshifted, turn = (((state >> 18) ^ state) >> 27) & MASK_32, state >> 59
        yield (xorshifted >> turn | xorshifted << (-turn & 31)) & MASK_32


def _block(start: tuple[int, ...]) -> bytes:
    words = list(start)
    for _ in range(DOUBLE_ROUNDS):
        for a, b, c, d in QUARTERS:
            for source, target, mixed, turn in ((b, a, d, 16), (d, c, b, 12), (b, a, d, 8), (d, c, b, 7)):
                words[target] = (words[target] + words[source]) & MASK_32
                turned = words[mixed] ^ words[target]
                words[mixed] = (turned << turn | turned >> (32 - turn)) & MASK_32
    return struct.pack("<16I", *((word + first) & MASK_32 for word, first in zip(words, start, strict=True)))
