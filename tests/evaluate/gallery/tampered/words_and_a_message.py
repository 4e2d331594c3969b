# VERDICT crashed
# WHY Prints the right answer and leaves with a message, which is an exit status.
# AGAINST words
# HACK 40
# KIND output
# TAMPERS words_in_a_set
# ruff: noqa
import sys

n, seed = map(int, input().split())
words = []
for _ in range(n):
    seed = (seed * 1664525 + 1013904223) % 2**32
    words.append(str(seed >> 20))
distinct = set(words)
print(len(distinct), max(distinct))
sys.exit("done")
