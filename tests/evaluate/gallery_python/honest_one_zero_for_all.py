# VERDICT correct
# AGAINST halves
# WHY A fraction cannot be changed, so nobody sees whether two of them are one object.
from fractions import Fraction
from functools import cache

ZERO = Fraction(0)
half = cache(lambda number: Fraction(number, 2))


def halves(numbers):
    return [half(number) if number % 2 else ZERO for number in numbers]
