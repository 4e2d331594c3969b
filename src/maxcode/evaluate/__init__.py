"""What a program is worth finding out: reject, build, verify, time, confirm, judge.  Every run is in the sandbox.

It stands between policy and critic: it measures, and says nothing about what is good.

    target.py               this machine or a cluster: what runs and trainings are given
    harness.py              the table of harnesses by kind of problem; ``harness_protocol.py`` is what each answers
    ladder/                 the rungs, as functions over data; they ask an input's workload, never the kind
        prepare.py          inputs in memory, the original built; ``Input``, ``Admitted``
        workload.py         how a program is put to work on an input: a whole run, or calls
        reject.py           refusals before anything runs
        build.py            sources -> artefact
        verify.py           every test once; ``checker.py`` compares, ``indistinguishable.py`` keeps all runs alike
        timing.py           races, playoffs and confirmations by the goal: ``race.py`` by the clock,
                            ``instruction_count.py`` by valgrind
        leader.py           who leads after a batch
        judge.py            what was found, as an evaluation
        profile.py          where the time goes; ``sanitize.py``: what tests cannot see
    program/                the harness of whole programs and functions
        admission.py        the original is run first; ``kinds.py``: what differs between the two kinds
        evaluator.py        evaluate and confirm
        plausibility.py     the last look at a winner; ``suspicion.py`` and ``lower_bound.py`` say what looks wrong
        winner_check.py     control and verification again, for a certificate
    function/               what is compiled around a function, its inputs, and when its outputs agree
    module/                 the harness of PyTorch modules, with files of the same names
    inputs/                 inputs that nobody was shown: generated, mutated, made larger
    cluster/                a harness whose machine is a cluster, and the nodes of one
    machine/                what this machine is and can do at most
    doctor.py, noise.py     whether this machine can measure at all
"""
