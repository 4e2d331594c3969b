"""The prompts for language models: one Markdown template per file of this folder.

``$name`` marks a value that is filled in.  ``digest`` goes into every record, so that a run states its prompts.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from string import Template


@cache
def template(name: str) -> Template:
    """The template in ``name.md``."""
    return Template(files(__name__).joinpath(f"{name}.md").read_text())


def filled(name: str, **values: str) -> str:
    """The text of a template with its values, without space around it."""
    return template(name).substitute(values).strip()


def digest() -> str:
    """The first 16 hexadecimal digits of the SHA-256 of all templates, by name."""
    found = sorted((file.name, file.read_text()) for file in files(__name__).iterdir() if file.name.endswith(".md"))
    return hashlib.sha256(repr(found).encode()).hexdigest()[:16]
