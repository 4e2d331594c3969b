"""Writes a run folder as one HTML page.  Reads the record; decides nothing."""

from maxcode.run.report.page import NAME, write_candidate, write_report
from maxcode.run.report.run_view import RESULT

__all__ = ["NAME", "RESULT", "write_candidate", "write_report"]
