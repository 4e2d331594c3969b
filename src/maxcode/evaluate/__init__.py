"""What a program is worth finding out: the ladder reject, build, verify, time, every rung of it in the sandbox.

``sandbox`` and ``shim.c`` run what nobody trusts; ``build``, ``verify`` and ``racing`` are the rungs; ``program``
climbs them.  Between policy and critic in the flow: it measures, and says nothing about what is good.
"""
