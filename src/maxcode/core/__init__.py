"""The values and roles of the search, and the arithmetic on them: no files, no clock, no processes."""
