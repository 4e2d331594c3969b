"""The driver's roles ``describe`` and ``profile``: what a reference is, and where time goes; runs in the sandbox."""

from __future__ import annotations

import inspect
import json
import math
import sys
import time
from typing import Any

PROFILED_CALLS, PROFILED_S = 20, 0.5
OF_OWN = 0.9  # of a kernel's seconds must be left over by all operators: else a library's kernel is counted twice
OTHER_DRAWS = 3  # of inputs: two values of a loss may be alike by chance


def describe(torch: Any, meta: dict[str, Any], driver: Any) -> None:
    """What the reference takes and gives, how its output depends on what it is given, and how long it takes.

    Its weights go to a file."""
    module = driver.load_file(meta)
    init = [driver.frozen(one) for one in module.get_init_inputs()]
    torch.manual_seed(meta["seed"])
    made = module.Model(*module.get_init_inputs())
    with open(driver.OUT, "wb") as out:
        driver.write_state(out, made)
    model = driver.placed(torch, meta, made)
    torch.manual_seed(meta["seed"] + 1)
    given = [driver.placed(torch, meta, one) for one in module.get_inputs()]
    kept = [one.clone() if isinstance(one, torch.Tensor) else one for one in given]
    with torch.no_grad():
        clock = time.process_time if meta["device"] == "cpu" else time.perf_counter
        started = clock()
        first = driver.listed(model(*given))
        driver.settle(torch, meta)
        seconds = clock() - started
        changed = any(isinstance(a, torch.Tensor) and not torch.equal(a, b) for a, b in zip(given, kept, strict=True))
        again = driver.listed(model(*[one.clone() if isinstance(one, torch.Tensor) else one for one in kept]))
        torch.manual_seed(meta["seed"] + 2)
        draws = [[driver.placed(torch, meta, one) for one in module.get_inputs()] for _ in range(OTHER_DRAWS)]
        others = [driver.listed(model(*draw)) for draw in draws]
        shake(torch, model)
        reweighted = driver.listed(model(*kept))
    said = {
        "init": [{"value": one} for one in init],
        "inputs": [
            dict(driver.about(one), name=name) if isinstance(one, torch.Tensor) else {"value": driver.frozen(one)}
            for name, one in zip(names_of(module.Model.forward, len(kept)), kept, strict=True)
        ],
        "outputs": [driver.about(one) for one in first],
        "weights": [dict(driver.about(one), name=name) for name, one in model.state_dict().items()],
        "seconds": seconds,
        "changes_inputs": changed,
        "figures": [figures(one) for one in first],
        "apart": {
            "again": apart(first, again),
            "inputs": max(apart(first, other) for other in others),
            "weights": apart(first, reweighted),
        },
    }
    print()
    json.dump(said, sys.stdout)


def names_of(forward: Any, count: int) -> list[str]:
    """The names of the parameters that take so many arguments after self."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = [one.name for one in inspect.signature(forward).parameters.values() if one.kind in kinds][1 : 1 + count]
    return found + [f"argument{number}" for number in range(len(found) + 1, count + 1)]


def shake(torch: Any, model: Any) -> None:
    """Change every weight, each element by itself: a norm's 1 and 0 are the same for every seed, and yet used."""
    for one in model.state_dict().values():
        if one.is_floating_point():
            one.mul_(1 + 0.3 * torch.rand_like(one)).add_(0.1 * torch.rand_like(one))  # what is positive stays so


def figures(one: Any) -> dict[str, Any]:
    """JSON has no NaN: where a number is none, ``finite`` says it."""
    value = one.double()
    numbers = {"least": value.min(), "most": value.max(), "std": value.std(correction=0)}
    finite = bool(value.isfinite().all())
    return {**{name: float(number) if finite else 0.0 for name, number in numbers.items()}, "finite": finite}


def apart(first: list[Any], second: list[Any]) -> float:
    """The largest difference of two lists of outputs, as a share of the largest value; 1 where one is not finite."""
    worst = 0.0
    for a, b in zip(first, second, strict=True):
        scale = max(float(a.double().abs().max()), 1e-300)
        error = float((a.double() - b.double()).abs().max()) / scale
        worst = max(worst, error) if math.isfinite(error) else 1.0
    return worst


def of_host(averages: Any) -> list[list[Any]]:
    """(Name, own seconds, calls) of every operator."""
    return [[one.key, one.self_cpu_time_total / 1e6, one.count] for one in averages]


def of_device(averages: Any) -> list[list[Any]]:
    """The same on a GPU: operators with the seconds of the kernels that they launch, and the kernels that no operator
    launches, which are the module's own.  A kernel of an operator is in the list of averages a second time."""
    named = [[one.key, one.self_device_time_total / 1e6, one.count, str(one.device_type)] for one in averages]
    operators = [one[:3] for one in named if not one[3].endswith("CUDA")]
    kernels = sorted((one[:3] for one in named if one[3].endswith("CUDA")), key=lambda one: -one[1])
    left = sum(one[1] for one in kernels) - sum(one[1] for one in operators)
    own = [one for one in kernels if "at::" not in one[0]]
    for one in own:
        if left >= one[1] * OF_OWN:
            operators.append(one)
            left -= one[1]
    return operators


def profile_calls(torch: Any, meta: dict[str, Any], driver: Any) -> None:
    """Seconds by operator, and those that no operator accounts for, as JSON: of a few calls on random inputs."""
    from torch.profiler import ProfilerActivity, profile

    driver.use_what_was_built(meta)
    model = driver.placed(torch, meta, driver.construct(torch, meta, driver.load_file(meta)))
    given = driver.arguments(meta["inputs"], driver.random_inputs(torch, meta))
    with torch.no_grad():
        model(*given)
        started = time.perf_counter()
        model(*given)
        calls = max(1, min(PROFILED_CALLS, int(PROFILED_S / max(time.perf_counter() - started, 1e-6))))
        with profile(activities=[ProfilerActivity.CPU, *[ProfilerActivity.CUDA] * (meta["device"] == "cuda")]) as seen:
            started = time.perf_counter()
            for _ in range(calls):
                model(*given)
            driver.settle(torch, meta)
            seconds = time.perf_counter() - started
    listed = of_device if meta["device"] == "cuda" else of_host
    found = [one for one in listed(seen.key_averages()) if not one[0].startswith("[")]
    print()  # after what the module may have printed
    json.dump({"operators": found, "seconds": seconds, "calls": calls}, sys.stdout)
