"""A local endpoint whose models are maxcode's own rules: ``maxcode serve``.

It makes the whole path of language models testable without one, and lets any tool that speaks to OpenAI's or
Anthropic's API be driven by the proposals of the rewriter or the kernel policy.  It can fail on purpose.  It is on
loopback alone: it has no keys and no users.

    api (Call, Reply) <- chat, messages (shapes)    prompt (what is asked) -> answer -> edits, evolve (its form)
    faults, tally -> app -> server (``serving``)
"""

from maxcode.serve.faults import Faults, faults
from maxcode.serve.server import Serving, serving
from maxcode.serve.tally import Tally

__all__ = ["Faults", "Serving", "Tally", "faults", "serving"]
