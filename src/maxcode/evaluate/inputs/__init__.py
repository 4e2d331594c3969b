"""Inputs beyond the given ones: their grammar and invariants, mutation, enlargement, fresh inputs."""
