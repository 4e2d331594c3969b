"""Who may join a cluster: a key and a certificate that its scheduler, its nodes and its drivers all hold.

One self-signed certificate is its own authority, and every connection is TLS with both sides shown, so holding the
folder is what lets somebody in: copy it to your other machines as you copy an SSH key.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from maxcode.errors import InputError

FOLDER = "MAXCODE_CLUSTER_KEYS"
_CERTIFICATE, _KEY = "cluster.crt", "cluster.key"


def folder() -> Path:
    """Where the keys are: $MAXCODE_CLUSTER_KEYS, else ~/.config/maxcode/cluster."""
    if chosen := os.environ.get(FOLDER):
        return Path(chosen).absolute()
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "maxcode" / "cluster"


def make(at: Path) -> None:
    """Make the keys, for a year; InputError where some are there already."""
    from distributed.security import Security

    if (at / _KEY).exists():
        raise InputError(f"{at} holds keys already; move them away to make new ones (all nodes then need the new ones)")
    made = Security.temporary()
    try:
        at.mkdir(parents=True, exist_ok=True, mode=0o700)
        (at / _CERTIFICATE).write_text(made.tls_ca_file)
        with open(os.open(at / _KEY, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(made.tls_client_key)
    except OSError as error:
        raise InputError(f"cannot keep keys in {at}: {error.strerror}; set {FOLDER} to a folder of yours") from error


def security(at: Path, makes: bool = False) -> Any:
    """The keys as Dask takes them; made first where ``makes`` and there are none.  InputError where there are none, or
    where others could read them."""
    if makes and not (at / _KEY).exists():
        make(at)
    key, certificate = at / _KEY, at / _CERTIFICATE
    if not key.exists() or not certificate.exists():
        raise InputError(
            f"there are no keys of the cluster in {at}; copy that folder from the scheduler's machine (`maxcode "
            f"cluster keys` makes it there), or set {FOLDER}"
        )
    if key.stat().st_mode & 0o077:
        raise InputError(f"others can read {key}, and with it join the cluster: chmod 600 {key}")
    return named(at)


def named(at: Path) -> Any:
    """The names of the keys as Dask takes them, whether they are there or not."""
    from distributed.security import Security

    key, certificate = at / _KEY, at / _CERTIFICATE
    names = {f"tls_{role}_{what}": str(path) for role in ("client", "scheduler", "worker")
             for what, path in (("cert", certificate), ("key", key))}  # fmt: skip
    return Security(require_encryption=True, tls_ca_file=str(certificate), **names)
