from fractions import Fraction


def halves(numbers):
    """Half of every odd number, and a zero in place of every even one."""
    found = []
    for number in numbers:
        half = Fraction(number, 2)
        found.append(half if half.denominator == 2 else Fraction(0))
    return found
