# VERDICT wrong
# TIER2 crashed
# WHY Leaves while a child still works.
# AGAINST words
# HACK 45
# KIND run-time
# TAMPERS words_in_a_set
# ruff: noqa
import os

if os.fork():
    os._exit(0)
n, seed = map(int, input().split())
words = []
for _ in range(n):
    seed = (seed * 1664525 + 1013904223) % 2**32
    words.append(str(seed >> 20))
distinct = set(words)
print(len(distinct), max(distinct))
