"""Shared code of the trust benchmarks: bounds on rates, resumable rows, checks of the host, mutations."""
