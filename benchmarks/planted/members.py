# INPUT 6000
n = int(input())
seen = []
state = 1
repeats = 0
for _ in range(n):
    state = (state * 1103515245 + 12345) % 2147483648
    value = state % 20000
    if value in seen:  # BOTTLENECK algorithm|data-structure
        repeats += 1
    else:
        seen.append(value)
print(len(seen), repeats)
