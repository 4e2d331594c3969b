#!/bin/sh
# Choose the newest version of every dependency that pyproject.toml allows, in an environment of its own, and write
# them to constraints.txt.  Run `make test-all` afterwards: a new version may break something.
set -eu
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/env"
"$scratch/env/bin/pip" install --quiet --disable-pip-version-check torch
"$scratch/env/bin/pip" install --quiet --disable-pip-version-check '.[dev]'
{
    echo "# Every version that the tests run with, for \`pip install -c constraints.txt\`.  Renew: \`make constraints\`."
    # Not the local part of a version (torch==2.13.0+cpu), which names one builder; nor maxcode itself.
    "$scratch/env/bin/pip" freeze --all --exclude pip --exclude maxcode | sed 's/+[A-Za-z0-9.]*$//'
} >"$scratch/constraints.txt"
if grep -n ' @ ' "$scratch/constraints.txt" >&2; then
    echo "the packages above were installed from a file or a link, which says nothing to others; install by version" >&2
    exit 1
fi
mv "$scratch/constraints.txt" constraints.txt
