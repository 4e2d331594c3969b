// VERDICT not-faster
// WHY Ends with wide vector instructions, so that the core is slow when the original begins; it pays for them itself, and either side may come first.
// AGAINST count
// HACK 40
// KIND baseline
#include <stdio.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void heat(void) {
    for (long i = 0; i < 3000000; i++)
        __asm__ volatile("vfmadd231pd %%zmm1, %%zmm2, %%zmm0\n vfmadd231pd %%zmm4, %%zmm5, %%zmm3" : : : "xmm0", "xmm3");
}
static int can_heat(void) { return __builtin_cpu_supports("avx512f"); }
#else
static void heat(void) {}
static int can_heat(void) { return 0; }
#endif

int main(void) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    printf("%ld\n", count(n));
    if (can_heat()) heat();
    return 0;
}
