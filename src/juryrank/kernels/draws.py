"""Random numbers of a generator of NumPy, for kernels that run uncompiled."""


def bits_of(rng):
    """What draws the random bits of ``rng``; the lock of its bit generator is held while it is used."""
    return rng


def uniform(bits):
    """A number from 0 to 1."""
    return bits.random()
