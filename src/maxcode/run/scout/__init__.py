"""``maxcode scout``: finds the commands of a repository, and where its benchmark spends its time."""
