"""A run folder as one HTML page.  Reads the floor and the record, decides nothing."""

from maxcode.run.report.page import write_candidate, write_report

__all__ = ["write_candidate", "write_report"]
