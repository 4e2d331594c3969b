# VERDICT wrong
# AGAINST primes
# WHY Whatever it makes the driver write is compared with what the original gives.
import sys

codec = sys.modules["__main__"].codec
codec.Encoder.node = lambda self, value: self.out.extend(b"l" + bytes(8))


def primes(limit, extra):
    return []
