"""A slow C program that several tests share: it adds up 0 to n - 1 in a loop that the compiler must keep.

``FAST`` has the closed form: hundreds of times faster, so short that its time is mostly noise.  ``QUARTER`` adds up
four numbers at a time: about four times faster, and steady enough that a confirmation soon ends.  ``ALIKE`` is as
slow, and compiles to another program.
"""

from pathlib import Path

LOOP = 'for (long i = 0; i < n; i++) { sum += i; __asm__ volatile("" : "+r"(sum)); }'
SLOW = f"""#include <stdio.h>
int main(void) {{
    long n, sum = 0;
    if (scanf("%ld", &n) != 1) return 1;
    {LOOP}
    printf("%ld\\n", sum);
    return 0;
}}
"""
FAST = SLOW.replace(LOOP, "sum = n * (n - 1) / 2;")
BY_FOUR = (
    'long i = 0;\n    for (; i + 4 <= n; i += 4) { sum += 4 * i + 6; __asm__ volatile("" : "+r"(sum)); }\n'
    "    for (; i < n; i++) sum += i;"
)
ALIKE = SLOW.replace("sum = 0;", "sum = 0; static volatile int more; more = 1;")
QUARTER = SLOW.replace(LOOP, BY_FOUR)


def counting_place(place: Path, largest: int, policy: str) -> Path:
    """The slow program with two tests, of 10 and of ``largest`` numbers, and a file with a policy."""
    (place / "slow.c").write_text(SLOW)
    (place / "policy.py").write_text(policy)
    (place / "tests").mkdir()
    for number, n in enumerate((10, largest)):
        (place / "tests" / f"{number}.in").write_text(f"{n}\n")
        (place / "tests" / f"{number}.out").write_text(f"{n * (n - 1) // 2}\n")
    return place
