"""The values and roles of the search, statistics, budgets, and the readers of files that all rooms share."""
