"""The steps of an evaluation as functions: build, verify, time, confirm, judge."""
