"""What a run claims in the end, in a file that another machine can repeat: ``certificate.json``.

``certify`` measures a winner anew from its file; ``read`` refuses a certificate whose conclusions do not follow from
its samples; ``repeat`` does it all again somewhere else.  It is not signed: whoever can write it can also write
samples that were never measured.  What it is worth is that anyone can repeat it.
"""

from maxcode.evaluate.harness_protocol import Verification
from maxcode.run.certificate.claim import (
    FILE,
    Certificate,
    CertifiedInputs,
    Control,
    Subject,
    Tested,
    read,
    write,
)
from maxcode.run.certificate.making import certified, certify
from maxcode.run.certificate.repeating import Repeated, printable, repeat
from maxcode.run.certificate.unseen import FreshInputTiming, fields_of

__all__ = [
    "FILE",
    "Certificate",
    "CertifiedInputs",
    "Control",
    "FreshInputTiming",
    "Repeated",
    "Subject",
    "Tested",
    "Verification",
    "certified",
    "certify",
    "fields_of",
    "printable",
    "read",
    "repeat",
    "write",
]
