"""Runs other tools next to maxcode: an endpoint, a scorer, and a monitor of processes."""
