"""Says how large a reference is with other constants, inside the sandbox; never imported by maxcode.

``/src/meta.json``: ``paths`` to put in front of sys.path, ``files`` to look at in order.  Nothing is computed: tensors
of the device ``meta`` have a shape and no content, so gigabytes cost nothing.  For each file one object on stdout:
``given`` (bytes of inputs and weights), ``output`` (bytes), or ``error`` in the place of what could not be found.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import Any


def loaded(path: str) -> Any:
    spec: Any = importlib.util.spec_from_file_location("module", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def size(tensors: Any) -> int:
    return sum(one.numel() * one.element_size() for one in tensors)


def sizes(torch: Any, path: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        with torch.device("meta"), torch.no_grad():
            module = loaded(path)
            model = module.Model(*module.get_init_inputs())
            inputs = module.get_inputs()
            tensors = [one for one in inputs if isinstance(one, torch.Tensor)]
            found["given"] = size(tensors) + size(model.state_dict().values())
            returned = model(*inputs)
            outputs = returned if isinstance(returned, (tuple, list)) else [returned]
            found["output"] = size(one for one in outputs if isinstance(one, torch.Tensor))
    except Exception as error:
        found["error"] = f"{type(error).__name__}: {error}"[:300]
    return found


def main() -> None:
    with open("/src/meta.json") as file:
        meta = json.load(file)
    sys.path[:0] = meta["paths"]
    sys.dont_write_bytecode = True
    import warnings

    warnings.filterwarnings("ignore")
    import torch

    json.dump([sizes(torch, "/src/" + name) for name in meta["files"]], sys.stdout)


main()
