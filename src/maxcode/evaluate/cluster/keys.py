"""The keys of a cluster: one key and one certificate that its scheduler, nodes and drivers share.

The certificate is self-signed and is its own authority.  Every connection is TLS, and both sides show the certificate.
So whoever has the folder can join: copy it to your other machines as you copy an SSH key.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from maxcode.errors import InputError

FOLDER = "MAXCODE_CLUSTER_KEYS"
_CERTIFICATE, _KEY = "cluster.crt", "cluster.key"


def folder() -> Path:
    """The folder of the keys: $MAXCODE_CLUSTER_KEYS, else ~/.config/maxcode/cluster."""
    if chosen := os.environ.get(FOLDER):
        return Path(chosen).absolute()
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "maxcode" / "cluster"


def make(at: Path) -> None:
    """Make the keys, valid for one year.  InputError if the folder has keys already."""
    from distributed.security import Security

    if (at / _KEY).exists():
        raise InputError(f"{at} has keys already; to make new ones, move them away (all nodes then need the new ones)")
    made = Security.temporary()
    try:
        at.mkdir(parents=True, exist_ok=True, mode=0o700)
        (at / _CERTIFICATE).write_text(made.tls_ca_file)
        with open(os.open(at / _KEY, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(made.tls_client_key)
    except OSError as error:
        raise InputError(f"cannot write keys to {at}: {error.strerror}; set {FOLDER} to another folder") from error


def security(at: Path, makes: bool = False) -> Any:
    """The keys as Dask takes them.

    With ``makes``, missing keys are made first.  InputError if there are none, or if other users can read them.
    """
    if makes and not (at / _KEY).exists():
        make(at)
    key, certificate = at / _KEY, at / _CERTIFICATE
    if not key.exists() or not certificate.exists():
        raise InputError(
            f"there are no keys of the cluster in {at}; copy that folder from the scheduler's machine (`maxcode "
            f"cluster keys` makes it there), or set {FOLDER}"
        )
    if key.stat().st_mode & 0o077:
        raise InputError(f"others can read {key} and can join the cluster with it; run chmod 600 {key}")
    return named(at)


def named(at: Path) -> Any:
    """The paths of the keys as Dask takes them; the files need not exist."""
    from distributed.security import Security

    key, certificate = at / _KEY, at / _CERTIFICATE
    names = {f"tls_{role}_{what}": str(path) for role in ("client", "scheduler", "worker")
             for what, path in (("cert", certificate), ("key", key))}  # fmt: skip
    return Security(require_encryption=True, tls_ca_file=str(certificate), **names)
