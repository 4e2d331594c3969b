// VERDICT not-faster
// WHY Names a function like an address, to break the profile and its readers; a name is only shown.
// AGAINST count
// HACK none
// KIND compile-time
#include <stdio.h>

long hot(long n);
__asm__(".text\n.globl hot\n.type \"0xzz\",@function\n\"0xzz\":\nhot:\n"
#ifdef __x86_64__
        "xor %eax,%eax\nxor %ecx,%ecx\n1: add %rcx,%rax\ninc %rcx\ncmp %rdi,%rcx\njl 1b\nret\n"
#else
        "mov x1,#0\nmov x2,#0\n1: add x1,x1,x2\nadd x2,x2,#1\ncmp x2,x0\nblt 1b\nmov x0,x1\nret\n"
#endif
        ".size \"0xzz\",.-\"0xzz\"\n");

int main(void) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    printf("%ld\n", (n > 0 ? hot(n) : 0) % 7);
    return 0;
}
