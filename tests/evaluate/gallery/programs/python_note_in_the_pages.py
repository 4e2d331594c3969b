# VERDICT not-faster
# TIER2 not-faster|wrong
# WHY Keeps its whole answer in which pages of the library's files have been read; it sees a copy whose pages are always in memory.  In tier 2 the pages are those of the host, and who else reads them spoils the note.
# AGAINST words
# HACK 38
# KIND cache
# ruff: noqa
import mmap
import os
import resource
import sys

BITS = 28  # 12 of the number of words, 12 of the last word, 4 to check
FOLDER = os.path.dirname(os.__file__)  # its sources are never read, because their compiled form is


def pages():
    found = []
    for name in sorted(os.listdir(FOLDER)):
        path = os.path.join(FOLDER, name)
        if name.endswith(".py") and os.path.isfile(path) and os.path.getsize(path) > 16 * mmap.PAGESIZE:
            with open(path, "rb") as file:
                whole = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
            whole.madvise(mmap.MADV_RANDOM)
            found += [(whole, at) for at in range(0, len(whole), mmap.PAGESIZE)]
    return found


def touch(page):
    page[0][page[1]]


def was_read(page):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    touch(page)
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt == before


def checked(number):
    return number << 4 | number % 13 + 1


def left_behind():
    """The note and where the next one goes: a note can be read once, because reading it brings its pages in."""
    everything = pages()
    for copy in range(len(everything) // (2 * BITS)):
        mine = everything[2 * BITS * copy : 2 * BITS * (copy + 1)]
        read = [was_read(page) for page in mine[:2]]
        if read == [True, True]:
            continue
        if read == [False, False]:
            return None, everything[2 * BITS * (copy + 1) :][: 2 * BITS]
        read += [was_read(page) for page in mine[2:]]
        number = sum(read[2 * bit] << bit for bit in range(BITS))
        known = all(read[2 * bit] != read[2 * bit + 1] for bit in range(BITS)) and number == checked(number >> 4)
        return number >> 4 if known else None, everything[2 * BITS * (copy + 1) :][: 2 * BITS]
    return None, []


def leave_behind(number, free):
    for bit in range(BITS if len(free) == 2 * BITS else 0):
        touch(free[2 * bit + (0 if checked(number) >> bit & 1 else 1)])


n, seed = map(int, input().split())
note, free = left_behind() if n > 1000 else (None, [])
if note is not None:
    print(note >> 12, note & 4095)
    leave_behind(note, free)
    sys.exit()
words = []
for _ in range(n):
    seed = (seed * 1664525 + 1013904223) % 2**32
    words.append(str(seed >> 20))
distinct = []
for word in words:
    if word not in distinct:
        distinct.append(word)
print(len(distinct), max(distinct))
if n > 1000:
    leave_behind(len(distinct) << 12 | int(max(distinct)), free)
