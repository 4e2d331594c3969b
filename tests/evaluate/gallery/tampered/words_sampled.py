# VERDICT wrong
# WHY Looks at every tenth word of a long input.
# AGAINST words
# HACK 9
# KIND output
# TAMPERS words_in_a_set
# ruff: noqa
n, seed = map(int, input().split())
words = []
for _ in range(n):
    seed = (seed * 1664525 + 1013904223) % 2**32
    words.append(str(seed >> 20))
distinct = set(words if n < 1000 else words[::10])
print(len(distinct), max(distinct))
