"""Programs of different kinds with known work, raced against themselves and against versions that do less."""

from __future__ import annotations

# Name -> (source with its steps open, steps of the original, about how many CPU seconds that is).
PROGRAMS: dict[str, tuple[str, int, float]] = {
    "integer chain": (
        """#include <stdio.h>
int main(void) {
    unsigned x = 1;
    for (long i = 0; i < STEPS; i++) { x = x * 1664525u + 1013904223u; __asm__ volatile("" : "+r"(x)); }
    puts("done");
    return x == 0;
}
""",
        18_000_000,
        0.027,
    ),
    "branches": (
        """#include <stdio.h>
int main(void) {
    unsigned x = 1, taken = 0;
    for (long i = 0; i < STEPS; i++) {
        x = x * 1664525u + 1013904223u;
        if (x >> 31) { taken++; __asm__ volatile("" : "+r"(taken)); }
        else { x ^= 0x55555u; __asm__ volatile("" : "+r"(x)); }
    }
    puts("done");
    return taken == 0;
}
""",
        3_500_000,
        0.030,
    ),
    "random access": (
        """#include <stdio.h>
static unsigned table[1 << 22];
int main(void) {
    unsigned x = 1;
    for (long i = 0; i < STEPS; i++) {
        x = x * 1664525u + 1013904223u + table[x >> 10 & ((1 << 22) - 1)];
        table[x >> 9 & ((1 << 22) - 1)] ^= x;
    }
    puts("done");
    return x == 0;
}
""",
        1_000_000,
        0.035,
    ),
    "floating point": (
        """#include <stdio.h>
int main(void) {
    double x = 0.5;
    for (long i = 0; i < STEPS; i++) { x = x * 3.5699 * (1.0 - x); __asm__ volatile("" : "+x"(x)); }
    puts("done");
    return x < 0;
}
""",
        6_500_000,
        0.027,
    ),
    "fresh pages": (
        """#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
int main(void) {
    enum { SIZE = 1 << 20 };
    unsigned total = 0;
    for (long i = 0; i < STEPS; i++) {
        char *room = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED) return 1;
        for (long at = 0; at < SIZE; at += 4096) room[at] = 1, total++;
        munmap(room, SIZE);
    }
    puts("done");
    return total == 0;
}
""",
        200,
        0.030,
    ),
}
PROGRAMS["short"] = (PROGRAMS["integer chain"][0], 3_300_000, 0.005)


def source_of(name: str, gain: float) -> str:
    """The program that does 1 / ``gain`` of the original's steps."""
    text, steps, _ = PROGRAMS[name]
    return text.replace("STEPS", f"{round(steps / gain)}L")
