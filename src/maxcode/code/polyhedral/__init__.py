"""The polyhedral view of loops: affine subscripts, iteration domains, and the dependences between their iterations.

One answer to "may these loops change places" for every rule that reorders loops.  polynomials.py: index expressions as
values; emptiness.py: whether affine constraints leave any integer point; dependences.py: accesses, recovered subscripts
of flat arrays, direction vectors.
"""
