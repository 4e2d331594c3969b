"""Values beyond those that get_inputs draws, for the driver's role ``make``; runs in the sandbox.

A number becomes a function of itself alone, and 0 stays 0 where the inputs hold zeros.  So symmetric, triangular and
masked inputs stay what they are.  Only where no such order is seen are values sorted, or drawn independently of their
place.  Inputs that look like a choice (two values, truth values, shares of 1, rising whole numbers) stay as drawn,
unless the problem names their domain.
"""

from __future__ import annotations

import copy
import random
from typing import Any

ALL_ALIKE = 0.6  # of the inputs of a call have the call's own habit, the others are as drawn
MOST_POWER, MOST_EACH = 10, 6  # powers of two
OF_FEW = "lkymv"  # habits of which a few values are unlike the others
MOST_RARE = 12  # a power of two: one value in so many is unlike the others
NUDGE = 2.0**-20  # the share by which a number is made smaller, at most
STEADY = 100 * NUDGE  # by how much an output may change then, as a share of its size
ZEROS = 0.01  # of the values: fewer come by chance


class Beyond:
    """The reference in both precisions, which says where it has an answer."""

    def __init__(self, torch: Any, driver: Any, meta: dict[str, Any], single: Any, double: Any) -> None:
        self.torch, self.driver, self.meta, self.single, self.double = torch, driver, meta, single, double
        self.on_host: Any = None

    def inputs(self, given: list[Any], letter: str) -> tuple[list[Any], list[Any]] | None:
        """Such inputs in place of those drawn, and the exact answer to them; None where nothing may vary, or the
        reference has no steady answer."""
        torch = self.torch
        chance = random.Random(int(torch.randint(1 << 62, (1,))))
        places = [at for at, one in enumerate(given) if isinstance(one, torch.Tensor)]
        domains = dict(zip(places, self.meta["domains"], strict=True))
        free = [at for at in places if may_vary(torch, given[at], domains[at])]
        if not free:
            return None
        found, sure = list(given), chance.choice(free)
        for at in free:
            if at == sure or chance.random() < ALL_ALIKE:
                found[at] = varied(torch, given[at], letter, domains[at], chance)
        if (exact := self.answer(found)) is not None:
            return found, exact
        if letter not in OF_FEW:
            return None
        for at in free:
            found[at] = found[at] if domains[at] is not None else with_signs_of(found[at], given[at])
        exact = self.answer(found)
        return None if exact is None else (found, exact)

    def answer(self, given: list[Any]) -> list[Any] | None:
        """The answer in double precision; None unless it is finite, in both precisions, and hardly changed by inputs
        that hardly change."""
        torch = self.torch
        if not self.runs_on_host(given):
            return None
        near = [nudged(torch, one) for one in given]
        try:
            exact = self.answers(self.double, [self.driver.doubled(torch, one) for one in given])
            moved = self.answers(self.double, [self.driver.doubled(torch, one) for one in near])
            plain = self.answers(self.single, [one.clone() if isinstance(one, torch.Tensor) else one for one in given])
        except Exception:  # whatever it raises: these are not inputs for it
            return None
        steady = all(bool(one.isfinite().all()) for one in (*exact, *moved, *plain)) and all(
            apart(one, other) <= STEADY for one, other in zip(exact, moved, strict=True)
        )
        return exact if steady else None

    def runs_on_host(self, given: list[Any]) -> bool:
        """Whether whole numbers are none that the reference cannot take, as an index out of range: on a GPU that ends
        the process, and on the host it raises."""
        torch, whole = self.torch, [one for one in given if isinstance(one, self.torch.Tensor)]
        if self.meta.get("device") != "cuda" or all(one.is_floating_point() for one in whole):
            return True
        if self.on_host is None:
            self.on_host = copy.deepcopy(self.double).cpu()
        try:
            with torch.no_grad():
                self.on_host(*[self.driver.doubled(torch, one) for one in given])
        except Exception:  # whatever it raises: these are not inputs for it
            return False
        return True

    def answers(self, model: Any, given: list[Any]) -> list[Any]:
        torch = self.torch
        with torch.no_grad():
            placed = [self.driver.placed(torch, self.meta, one) for one in given]
            returned = self.driver.listed(model(*placed))
            return [one.to(torch.float64, copy=True) for one in returned]  # a later call may write to its own


def apart(exact: Any, other: Any) -> float:
    """The largest difference of an element, as a share of its size and of the root mean square of all."""
    if exact.numel() == 0:
        return 0.0
    scale = float(exact.square().mean().sqrt()) or 1.0
    return float(((other - exact).abs() / (exact.abs() + scale)).max())


def may_vary(torch: Any, one: Any, domain: dict[str, Any] | None) -> bool:
    if domain is not None:
        return bool(domain["which"] != "drawn")
    if one.dtype == torch.bool or one.is_complex() or one.numel() < 2:
        return False
    if not has_three_values(one):
        return False
    if one.is_floating_point():
        shares = one.double().sum(-1)
        return not (one.ndim > 0 and bool((one >= 0).all()) and bool(((shares - 1).abs() < 1e-3).all()))
    return not is_rising(one)


def has_three_values(one: Any) -> bool:
    """Without sorting, which would take longer than the reference.  Each NaN is a value of its own."""
    flat = one.reshape(-1)
    unlike_first = flat != flat[0]
    unlike_first[0] = False
    at = unlike_first.byte().argmax()
    third = unlike_first & (flat != flat[at])
    third[at] = False
    return bool(third.any())


def is_rising(one: Any) -> bool:
    flat = one.reshape(-1)
    return bool((flat[1:] >= flat[:-1]).all())


def is_ordered(torch: Any, one: Any) -> bool:
    """Whether a value says something by its place."""
    if float((one == 0).float().mean()) > ZEROS or is_rising(one) or is_rising(-one):
        return True
    square = one.ndim > 1 and one.shape[-1] == one.shape[-2] and one.shape[-1] > 1
    return bool(square and torch.equal(one, one.mT))


def nudged(torch: Any, one: Any) -> Any:
    if not isinstance(one, torch.Tensor) or not one.is_floating_point():
        return one
    return one.double() * (1 - NUDGE * torch.rand(one.shape).double())


def with_signs_of(one: Any, drawn: Any) -> Any:
    """None negative where none is drawn: a root and a logarithm have an answer then."""
    return one.abs() if bool((drawn >= 0).all()) else one


def varied(torch: Any, one: Any, letter: str, domain: dict[str, Any] | None, chance: random.Random) -> Any:
    """The values of one input by the habit ``letter``, within its domain."""
    if not one.is_floating_point():
        return whole(torch, one, letter, domain, chance)
    found = real(torch, one.double(), letter, domain, chance)
    if domain is not None and domain["which"] in ("positive", "nonnegative"):
        found = found.abs() if domain["which"] == "nonnegative" else found.abs().clamp_min(1e-3)
    if domain is not None and domain["which"] == "between":
        low, high = domain["low"], domain["high"]
        found = low + (high - low) * torch.rand(one.shape, dtype=torch.float64) if letter in "swf" else found
        found = found.clamp(low, high)
    return found.to(one.dtype)


def real(torch: Any, x: Any, letter: str, domain: dict[str, Any] | None, chance: random.Random) -> Any:
    def coins(salt: int) -> Any:
        """A number in [0, 1) for each value, the same for the same value."""
        return ((x * (12.9898 + salt + chance_of_call)).sin() * 43758.5453).frac().abs()

    chance_of_call = chance.random()
    power = chance.choice([-1, 1]) * chance.randint(2, MOST_POWER)
    some = x[x != 0].reshape(-1)
    some = some if some.numel() else torch.ones(1, dtype=torch.float64)
    pick = [float(some[chance.randrange(some.numel())]) for _ in range(4)]
    if letter in "od" and (domain is not None or not is_ordered(torch, x)):
        return x.reshape(-1).sort(descending=letter == "d").values.reshape(x.shape)
    if letter == "w":
        return x * 2.0 ** (coins(1) * (2 * MOST_EACH + 1) - MOST_EACH).floor()
    if letter == "p":
        return x.abs()
    if letter == "n":
        return -x.abs()
    if letter == "z":
        return torch.where(coins(2) < 0.5, 0.0, x)
    if letter == "r":
        return torch.where(x == 0, 0.0, torch.tensor(pick, dtype=torch.float64)[(coins(3) * 4).long().clamp(0, 3)])
    if letter == "c":
        return torch.where(x == 0, 0.0, pick[0])
    if letter == "i":
        return (x * 8).round()
    low, high = ends(x, domain)
    at_ends = torch.where(x == 0, 0.0, torch.where(coins(4) < 0.5, low, high))
    if letter == "e":
        return at_ends
    if letter in OF_FEW:  # no look at a few places finds them
        few = (coins(7) < rare(chance)) | (x == pick[0])
        far = torch.where(coins(8) < 0.5, -x, x) * 2.0 ** abs(power)
        others = torch.where(x == 0, x, torch.full_like(x, pick[1]))
        return torch.where(few, {"l": far, "k": 0.0 * x, "y": others, "m": -x, "v": at_ends}[letter], x)
    if letter == "f":
        return x * 2.0 ** ((2 * coins(5) - 1) * MOST_POWER) * torch.where(coins(6) < 0.5, -1.0, 1.0)
    return x * (2.0**power if letter == "s" else -1.0)


def rare(chance: random.Random) -> float:
    """The share of values that are unlike the others; more often a small one, which a look at some places misses."""
    return 2.0 ** -max(chance.randint(2, MOST_RARE), chance.randint(2, MOST_RARE))


def ends(x: Any, domain: dict[str, Any] | None) -> tuple[float, float]:
    if domain is not None and domain["which"] == "between":
        return domain["low"], domain["high"]
    most = float(x.abs().max()) if x.numel() else 0.0
    return -most, most


def whole(torch: Any, one: Any, letter: str, domain: dict[str, Any] | None, chance: random.Random) -> Any:
    """Whole numbers from the least to the largest drawn; beyond that where the reference takes them."""
    low, high = int(one.min()), int(one.max())
    if domain is not None and domain["which"] == "between":
        low, high = int(domain["low"]), int(domain["high"])
    elif letter in "swf":
        low, high = (2 * low if low < 0 else low), 2 * high + 1
    within = {"z": (low, low + (high - low) // 2), "i": (low, min(high, low + 8)), "p": (max(low, 0), high)}
    least, most = within.get(letter, (low, high))
    drawn = torch.randint(least, max(least, most) + 1, one.shape, dtype=torch.int64)
    if letter in "od":
        drawn = drawn.reshape(-1).sort(descending=letter == "d").values.reshape(one.shape)
    if letter in "ce":
        drawn = (
            torch.full_like(drawn, chance.randint(low, high))
            if letter == "c"
            else torch.where(drawn % 2 == 0, low, high)
        )
    if letter == "r":
        drawn = torch.tensor([chance.randint(low, high) for _ in range(4)])[drawn % 4]
    if letter in "kmv":
        few = torch.rand(one.shape) < rare(chance)
        few.view(-1)[chance.randrange(one.numel())] = True
        opposites = (-drawn).clamp(low, high)
        zero = 0 * drawn if domain is None else (0 * drawn).clamp(low, high)
        unlike = {"k": zero, "m": opposites, "v": torch.where(drawn % 2 == 0, low, high)}[letter]
        drawn = torch.where(few, unlike, drawn)
    return drawn.to(one.dtype)
