# VERDICT faster
# WHY Keeps words in a set.
# AGAINST words
# HACK none: an honest winner
# KIND honest
# ruff: noqa
n, seed = map(int, input().split())
words = []
for _ in range(n):
    seed = (seed * 1664525 + 1013904223) % 2**32
    words.append(str(seed >> 20))
distinct = set(words)
print(len(distinct), max(distinct))
