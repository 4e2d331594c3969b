"""The harness ``python``: a Python function, called in rounds (``evaluate/rounds/``).

``runtime.py``   the interpreter and the packages that the sandbox shows
``sides.py``     starts the processes; ``track.py`` calls them in turn
``making.py``    the making of inputs; ``checking.py``: which results the user's ``is_solution`` is asked about
``nodes.py``     reads the values that they give; ``comparing.py`` compares them as a caller would see them
``staging.py``   admitted problems, and rounds of their sides
``inside/``      what runs in the sandbox
"""
