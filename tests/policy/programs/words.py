# Reads lines of words, and tells about them in many ways.
import sys


def ways(n, k):
    if n == 0:
        return 1
    if n < 0 or k == 0:
        return 0
    return ways(n - k, k) + ways(n, k - 1)


def blanks(line):
    count, i = 0, 0
    while i < len(line):
        if line[i] == " ":
            count += 1
        i += 1
    return count


def walk(start):
    queue = [start]
    order = []
    while queue:
        here = queue.pop(0)
        order.append(here)
        if here * 2 < 60:
            queue.append(here * 2)
            queue.append(here * 2 + 1)
    return order


def once(items):
    found = []
    for item in items:
        if item not in found:
            found.append(item)
    return found


sys.setrecursionlimit(5000)
lines = int(input())
known = []
spaces = 0
text = ""
for _ in range(lines):
    line = input()
    spaces += blanks(line)
    for word in line.split():
        if word.lower() not in known:
            known.append(word.lower())
        text = text + word.strip() + ","
lengths = []
for one in known:
    if len(one) > 1:
        lengths.append(len(one) * 2)
total = sum(lengths)
note = """a text
  of two lines"""
print(note)
print(len(known), "words", spaces)
print(text)
print(*lengths)
print()
print(total, end=".\n")
print(ways(24, 12), walk(1))
nan = float("nan")
print(once([3, "a", 3.0, True, 1, None, nan, nan, "a", b"a", 0.0, -0.0]))
print(once(["b", 1, (1,), [2], 2, [2], (1.0,), "b", None, 2.0]))
