"""Runs untrusted programs: tiers, the supervising shim, limits, exclusive cores.  Knows nothing of problems."""
