"""What a run claims in the end, in a file that another machine can repeat: ``certificate.json``.

``certify`` measures a winner anew from its file; ``read`` refuses a certificate whose conclusions do not follow from
its samples; ``repeat`` does it all again somewhere else.  It is not signed: whoever can write it can also write
samples that were never measured.  What it is worth is that anyone can repeat it.
"""

from maxcode.run.certificate.claim import (
    FILE,
    Certificate,
    Control,
    MadeInputs,
    Subject,
    Tested,
    Verification,
    read,
    write,
)
from maxcode.run.certificate.making import certified, certify
from maxcode.run.certificate.repeating import Repeated, printable, repeat
from maxcode.run.certificate.unseen import Unseen, fields_of

__all__ = [
    "FILE",
    "Certificate",
    "Control",
    "MadeInputs",
    "Repeated",
    "Subject",
    "Tested",
    "Unseen",
    "Verification",
    "certified",
    "certify",
    "fields_of",
    "printable",
    "read",
    "repeat",
    "write",
]
