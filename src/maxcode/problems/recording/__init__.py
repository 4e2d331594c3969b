"""Records the calls of a Python function while a command of the user runs, and makes a problem of them.

``recorder.py``   runs in the user's Python, as its sitecustomize
``capture.py``    starts the command, replays what was recorded, and writes the problem
"""
