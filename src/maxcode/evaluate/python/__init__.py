"""The harness ``python``: a Python function, called in rounds (``evaluate/rounds/``).

``runtime.py``   the interpreter and the packages that the sandbox shows
``sides.py``     starts the processes; ``track.py`` calls them in turn
``making.py``    the making of inputs; ``checking.py``: which results the user's ``is_solution`` is asked about
``nodes.py``     reads the values that they give; ``comparing.py`` compares them as a caller would see them
``admission.py`` describes and times the original; ``staging.py``: rounds of the sides of what is admitted
``inside/``      what runs in the sandbox
"""
