"""Evaluates candidates: reject, build, verify, time, confirm, judge.  Every run is in the sandbox.

It stands between policy and critic.  It measures; it does not judge what is good.

    target.py               this machine or a cluster: what runs and trainings receive
    harness.py              the table of harnesses by kind of problem; ``harness_protocol.py``: their interface
    ladder/                 the rungs, as functions over data; they depend on an input's workload, never on the kind
        prepare.py          inputs in memory, the original built; ``Input``, ``Admitted``
        workload.py         how a program runs on an input: a whole run, or calls
        reject.py           refusals before anything runs
        build.py            sources -> artefact
        verify.py           every test once; ``checker.py`` compares, ``indistinguishable.py`` keeps all runs alike
        timing.py           races, playoffs and confirmations by the goal: ``race.py`` by the clock,
                            ``instruction_count.py`` by valgrind
        leader.py           chooses the new incumbent after a batch
        judge.py            results of the rungs as an evaluation
        profile.py          where the time goes; ``sanitize.py``: errors that tests cannot see
    program/                the harness of whole programs and functions
        admission.py        runs the original first; ``kinds.py``: what differs between the two kinds
        evaluator.py        evaluate and confirm
        plausibility.py     the last check of a winner; ``suspicion.py`` and ``lower_bound.py`` find what looks wrong
        winner_check.py     control race and verification again, for a certificate
    function/               the code around a function, its inputs, and the comparison of its outputs
    module/                 the harness of PyTorch modules, with files of the same names
    inputs/                 fresh inputs: generated, mutated, enlarged
    cluster/                a harness that measures on a cluster, and the nodes of a cluster
    machine/                what this machine is, and its highest rates
    doctor.py, noise.py     whether this machine can measure
"""
