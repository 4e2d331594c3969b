"""Runs untrusted programs: tiers, the shim, limits, lanes for builds and timing.  It knows nothing about problems."""
