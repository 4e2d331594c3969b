# VERDICT correct
# AGAINST filed
# WHY The user's check says that nobody needs the private helper of the original's dataclass.
from dataclasses import dataclass


@dataclass
class Words:
    words: list


def filed(text):
    return Words(text.split())
