# VERDICT crashed
# WHY Takes memory without end.
# AGAINST words
# HACK 53
# KIND resource
# ruff: noqa
import os

held = []
while True:
    held.append(os.urandom(1 << 20) * 32)
