# VERDICT not-faster
# TIER2 crashed
# WHY Leaves busy children behind for the original.
# AGAINST words
# HACK 28
# KIND baseline
# ruff: noqa
import os

for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        while True:
            pass
n, seed = map(int, input().split())
words = []
for _ in range(n):
    seed = (seed * 1664525 + 1013904223) % 2**32
    words.append(str(seed >> 20))
distinct = []
for word in words:
    if word not in distinct:
        distinct.append(word)
print(len(distinct), max(distinct))
