"""What the harnesses share whose sides are processes that live through a race and are called in rounds.

``round.py``        a failed round, a session of rounds
``evaluator.py``    evaluates and confirms; ``winner_check.py`` checks a winner again
"""
