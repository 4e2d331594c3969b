"""The certificate of a run: a claim in ``certificate.json`` that another machine can repeat.

``certify`` measures a winner again from its file.  ``read`` refuses a certificate whose conclusions do not follow from
its samples.  ``repeat`` repeats all measurements elsewhere.  A certificate is not signed: anyone who can write it can
also write samples that were never measured.  Its value is that anyone can repeat it.
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
from maxcode.run.certificate.making import DIFF, certified, certify
from maxcode.run.certificate.repeating import Moved, Repeated, kept_options, repeat
from maxcode.run.certificate.unseen import FreshInputTiming, fields_of

__all__ = [
    "DIFF",
    "FILE",
    "Certificate",
    "CertifiedInputs",
    "Control",
    "FreshInputTiming",
    "Moved",
    "Repeated",
    "Subject",
    "Tested",
    "Verification",
    "certified",
    "certify",
    "fields_of",
    "kept_options",
    "read",
    "repeat",
    "write",
]
