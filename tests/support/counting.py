"""A slow C program that several tests share: it adds up 0 to n - 1 in a loop that the compiler must keep.

``FAST`` has the closed form: hundreds of times faster, so short that its time is mostly noise.  ``QUARTER`` adds up
four numbers at a time: about four times faster, and steady enough that a confirmation soon ends.
"""

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
QUARTER = SLOW.replace(LOOP, BY_FOUR)
