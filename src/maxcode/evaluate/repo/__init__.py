"""The harness ``repo``: patches of a git repository, judged by its own build, tests and benchmark commands."""
