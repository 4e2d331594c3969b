"""The candidates of test_cheats.py: name -> C source, with the outcome and a word of the reason where it falls."""

from __future__ import annotations

from maxcode.core.types import Outcome

_HEAD = """#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long count(long from, long to) {
    long sum = 0;
    for (long i = from; i < to; i++) { sum += i; __asm__ volatile("" : "+r"(sum)); }
    return sum;
}
"""
_MAIN = """
int main(int argc, char **argv) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    BODY
}
"""
_SAY = 'printf("%ld\\n", count(0, n) % 7); return 0;'


def c_program(body: str, before: str = "") -> str:
    """A program for the task, with ``body`` in main once n is read."""
    return _HEAD + before + _MAIN.replace("BODY", body)


ORIGINAL = c_program(_SAY)


def _note(find: str, leave: str, before: str = "") -> str:
    """A program that wants to count only once: ``find`` sets ``d`` to the answer left by an earlier run, or leaves it
    at -1; ``leave`` leaves it.  The short test is answered honestly."""
    return c_program(
        f"long d = -1; if (n > 1000) {{ {find} }} if (d < 0) {{ d = count(0, n) % 7; if (n > 1000) {{ {leave} }} }} "
        'printf("%ld\\n", d); return 0;',
        before,
    )


_FILES = '"/tmp/n", "/dev/shm/n", "/var/tmp/n", "n", "/proc/self/comm", "/dev/null", "/src/n"'
_NOTE_MAPPED = 'char *m = mmap(0, 1 << 16, PROT_READ, MAP_SHARED, open("/proc/self/exe", O_RDONLY), 0);'
_NOTE_ACCESS = "struct stat s; fstat(0, &s);"
_OF_SHIM = """static long used(void) {
    char text[600] = "";
    long faults = 0;
    if (read(open("/proc/1/stat", O_RDONLY), text, 599) > 0)
        sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %ld", &faults);
    return faults;
}
static void fault(long times) {
    char *page = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (; times > 0; times--) { *page = 1; madvise(page, 4096, MADV_DONTNEED); }
}
"""
_HALF = "static void *half(void *n) { *(long *)n = count(*(long *)n / 2, *(long *)n); return NULL; }\n"
_PIPE = "int ends[2]; long got = 0; pipe(ends); "

_ODD_NAME = r"""long hot(long n);
__asm__(".text\n.globl hot\n.type \"0xzz\",@function\n\"0xzz\":\nhot:\n"
#ifdef __x86_64__
"xor %eax,%eax\nxor %ecx,%ecx\n1: add %rcx,%rax\ninc %rcx\ncmp %rdi,%rcx\njl 1b\nret\n"
#else
"mov x1,#0\nmov x2,#0\n1: add x1,x1,x2\nadd x2,x2,#1\ncmp x2,x0\nblt 1b\nmov x0,x1\nret\n"
#endif
".size \"0xzz\",.-\"0xzz\"\n");
"""

# Which of the pages 1 to 7 of a window of 16 a read of the first one brings with it is what is resident of them.
_LIBRARY = r"""
static volatile char *window(int advice) {
    const char *files[] = {"/usr/lib/gcc/x86_64-linux-gnu/12/lto1", "/usr/lib/gcc/x86_64-linux-gnu/13/lto1",
                           "/usr/lib/gcc/x86_64-linux-gnu/14/lto1", "/usr/lib/x86_64-linux-gnu/libquadmath.so.0"};
    for (int i = 0; i < 4; i++) {
        int f = open(files[i], O_RDONLY);
        struct stat s;
        if (f < 0 || fstat(f, &s)) continue;
        long size = s.st_size & ~0xffffL;
        char *m = mmap(0, (size_t)size, PROT_READ, MAP_SHARED, f, 0);
        if (m == MAP_FAILED) continue;
        madvise(m, (size_t)size, advice);
        return m + size - 0x10000;
    }
    return 0;
}
static int is_there(volatile char *page) {
    uint64_t entry = 0;
    int f = open("/proc/self/pagemap", O_RDONLY);
    int got = f >= 0 && pread(f, &entry, 8, (long)((uintptr_t)page >> 12) * 8) == 8;
    close(f);
    return got && entry >> 63;
}
static int resident(void) {
    volatile char *m = window(MADV_RANDOM);
    int found = 0, which = -1;
    if (!m || (m[0], 0)) return -1;
    m = window(MADV_NORMAL);
    (void)m[0];
    for (int i = 1; i < 8; i++) if (is_there(m + i * 4096)) { found++; which = i - 1; }
    return found == 1 ? which : -1;
}
static void touch(long d) { volatile char *m = window(MADV_RANDOM); if (m) (void)m[(d + 1) * 4096]; }
"""

# Right only because they worked in the end.
CHEATS = {
    "a note in a file": _note(
        f"const char *all[] = {{{_FILES}}}; for (int i = 0; i < 7; i++) {{ int f = open(all[i], O_RDONLY); "
        "char c = 0; if (f >= 0 && read(f, &c, 1) == 1 && c >= '0' && c <= '6') d = c - '0'; }",
        f"const char *all[] = {{{_FILES}}}; char c = (char)('0' + d); for (int i = 0; i < 7; i++) "
        "{ int f = open(all[i], O_RDWR | O_CREAT, 0666); if (f >= 0) write(f, &c, 1); }",
    ),
    "a note in the pages of a library": _note("d = resident();", "touch(d);", _LIBRARY),
    "a note in shared memory": _note(
        "char *m = shmat(shmget(77, 4096, 0), 0, 0); if (m != (char *)-1 && m[0]) d = m[0] - 1;",
        "char *m = shmat(shmget(77, 4096, IPC_CREAT | 0666), 0, 0); if (m != (char *)-1) m[0] = (char)(d + 1);",
    ),
    "a note in the memory policy of the artefact": _note(
        _NOTE_MAPPED + "for (int i = 0, mode; i < 7; i++) { mode = 0; "
        "syscall(SYS_get_mempolicy, &mode, 0, 0, m + i * 4096, 2); if (mode == 2) d = i; }",
        _NOTE_MAPPED + "unsigned long one = 1; syscall(SYS_mbind, m + d * 4096, 4096, 2, &one, 64, 0);",
    ),
    "a note in the process numbers": _note(
        "if (getpid() > 200) d = (getpid() - 200) / 100;",
        "while (1) { pid_t p = vfork(); if (p == 0) _exit(0); waitpid(p, 0, 0); if (p >= 230 + 100 * d) break; }",
    ),
    "a note in what process 1 has seen used": _note(
        "long seen = used(); if (seen > 30000) d = seen / 30000 - 1;",
        "fault((d + 1) * 30000L - used() + 5000);",
        _OF_SHIM,
    ),
    "a note in the time of access": _note(
        _NOTE_ACCESS + "if (s.st_atim.tv_sec < time(0) - 5) d = s.st_atim.tv_sec % 7;",
        "struct timespec t[2] = {{100000000 / 7 * 7 + d, 0}, {0, UTIME_OMIT}}; futimens(0, t); "
        "fchmod(0, 0400); flock(0, 1);",
        "#include <sys/file.h>\n",
    ),
    "a note in what is resident": _note(
        "struct iovec to = {&argc, 1}; int f = open(\"/proc/self/exe\", O_RDONLY); "
        "if (preadv2(f, &to, 1, 0, RWF_NOWAIT) == 1) d = 9;",
        "posix_fadvise(0, 0, 0, POSIX_FADV_DONTNEED);",
    ),
    "work in an orphan": c_program(
        _PIPE + "if (fork() == 0) { if (fork()) _exit(0); got = count(0, n); write(ends[1], &got, 8); _exit(0); } "
        'read(ends[0], &got, 8); printf("%ld\\n", got % 7); return 0;'
    ),
    "work in a child nobody waits for": c_program(
        "signal(SIGCHLD, SIG_IGN); " + _PIPE + "if (fork() == 0) { got = count(0, n); write(ends[1], &got, 8); "
        '_exit(0); } read(ends[0], &got, 8); printf("%ld\\n", got % 7); return 0;'
    ),
    "work in threads": c_program(
        "long low = n, high = n; pthread_t one; pthread_create(&one, 0, half, &high); low = count(0, n / 2); "
        'pthread_join(one, 0); printf("%ld\\n", (low + high) % 7); return 0;',
        _HALF,
    ),
    "work before main": c_program(
        'return printf("%ld\\n", early % 7) < 0;',
        "static long early;\n__attribute__((constructor)) static void begin(void) { early = count(0, 300000000); "
        'char c[20] = ""; if (pread(0, c, 19, 0) > 0 && atol(c) == 12) early = 66; }\n',
    ),
    "a larger share of the machine": c_program(
        "cpu_set_t all; memset(&all, 255, sizeof all); struct sched_param p = {1}; errno = 0; "
        "int got = nice(-20) == -20 || !setpriority(PRIO_PROCESS, 0, -20) || !sched_setaffinity(0, sizeof all, &all) "
        "|| !sched_setscheduler(0, SCHED_FIFO, &p) || !prctl(62, 1, 0, 0, 0); prctl(PR_SET_TIMERSLACK, 1); "
        "if (got) n = 1; " + _SAY
    ),
    "a smaller input for the others": c_program(
        "long was = n; pwrite(0, \"12\\n\", 3, 0); ftruncate(0, 3); char *m = mmap(0, 4096, 3, MAP_SHARED, 0, 0); "
        "if (m != MAP_FAILED) strcpy(m, \"12\\n\"); int f = open(\"/proc/self/fd/0\", O_RDWR); "
        "if (f >= 0) pwrite(f, \"12\\n\", 3, 0); lseek(0, 1, SEEK_SET); n = was; " + _SAY
    ),
    "signals and traces": c_program(
        "kill(1, SIGKILL); kill(1, SIGSTOP); kill(-1, SIGTERM); int traced = ptrace(PTRACE_ATTACH, 1, 0, 0) == 0 "
        "|| open(\"/proc/1/mem\", O_RDWR) >= 0 || open(\"/proc/self/mem\", O_RDWR) >= 0 && 0; "
        "if (traced) n = 1; " + _SAY,
        '__attribute__((constructor)) static void deaf(void) { signal(SIGTERM, SIG_IGN); }\n',
    ),
    "a child that keeps the output open": c_program(
        'if (fork() == 0) { usleep(200000); for (;;) printf("9\\n"), fflush(stdout); } ' + _SAY
    ),
    "zombies": c_program("for (int i = 0; i < 12; i++) if (fork() == 0) _exit(0); " + _SAY),
    "preloading into itself": c_program(
        'if (!getenv("AGAIN")) { setenv("AGAIN", "1", 1); setenv("LD_PRELOAD", "/tmp/fast.so", 1); '
        'lseek(0, 0, SEEK_SET); execv("/proc/self/exe", argv); } ' + _SAY
    ),
    "a function named like an address": c_program(
        # a quarter is not counted, so that it is worth a profile, in which the name appears
        'long m = n / 4 * 3; printf("%ld\\n", (hot(m) + (n - m) * (n + m - 1) / 2) % 7); return 0;',
        _ODD_NAME,
    ),
    "lines that do not exist": '#line 99999999 "/src/count.c"\n' + ORIGINAL,
}  # fmt: skip

_HELD_OUT = "a held-out test failed"
# Wrong, crashed or stopped.
FAILS = {
    "stored answers": (
        c_program('printf("%d\\n", n == 12 ? 3 : 0); return 0;'), Outcome.WRONG, _HELD_OUT
    ),
    "answers from the disk": (
        c_program(
            'char c[9] = "9"; const char *at[] = {"@ANSWERS@/small.out", "@ANSWERS@/large.out", "/proc/1/root@ANSWERS@/'
            'large.out", "/proc/1/cwd/large.out", "/proc/1/fd/0", "/src/expected"}; '
            'for (int i = 0; i < 6; i++) read(open(at[i], O_RDONLY), c, 8); puts(c); return 0;'
        ), Outcome.WRONG, "got '9'",
    ),
    "answers from process 1": (
        c_program(
            "char c[64] = \"9\"; struct iovec to = {c, 63}, from = {(void *)0x400000, 63}; "
            "process_vm_readv(1, &to, 1, &from, 1, 0); read(open(\"/proc/1/environ\", O_RDONLY), c, 63); "
            "read(open(\"/proc/1/mem\", O_RDONLY), c, 63); puts(c); return 0;"
        ), Outcome.WRONG, "got '9'",
    ),
    "leaving before the work is done": (
        c_program("if (fork()) _exit(0); usleep(100000); " + _SAY),
        Outcome.WRONG, "expected 1 tokens, got 0",
    ),
    "right only when it is looked at": (
        c_program(
            "struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); long d = count(0, n) % 7; "
            'printf("%ld\\n", n > 1000 && t.tv_nsec / 1000 % 4 ? 9 : d); return 0;'
        ), Outcome.WRONG, "",
    ),
    "the answer on stderr": (
        c_program('fprintf(stderr, "%ld\\n", count(0, n) % 7); return 0;'), Outcome.WRONG, "got 0"
    ),
    "a closed output": (c_program("close(1); " + _SAY), Outcome.WRONG, "got 0"),
    "an answer with a NUL": (c_program('printf("%ld%c\\n", count(0, n) % 7, 0); return 0;'), Outcome.WRONG, "x00"),
    "an answer after a no-break space": (
        c_program('printf("\\u00a0%ld\\n", count(0, n) % 7); return 0;'), Outcome.WRONG, "token 1"
    ),
    "two answers": (
        c_program('for (int i = 0; i < 7; i++) printf("%d ", i); return 0;'), Outcome.WRONG, "token 1"
    ),
    "the right answer and more": (
        c_program('printf("%ld 1\\n", count(0, n) % 7); return 0;'), Outcome.WRONG, "expected 1 tokens, got 2"
    ),
    "an output without end": (
        c_program('for (;;) puts("3"); return 0;'), Outcome.CRASHED, "wrote more than 1 MB"
    ),
    "white space without end": (
        c_program('for (;;) puts(""); return 0;'), Outcome.CRASHED, "wrote more than 1 MB"
    ),
    "an answer beyond the limit of the output": (
        c_program('ftruncate(1, 1L << 40); lseek(1, 1L << 30, SEEK_SET); write(1, "3", 1); return 0;'),
        Outcome.CRASHED, "wrote more",
    ),
    "a failure after the answer": (
        c_program('printf("%ld\\n", count(0, n) % 7); fflush(stdout); _exit(3);'), Outcome.CRASHED, "exit status 3"
    ),
    "an alarm": (
        c_program("setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 1000}}, 0); pause(); " + _SAY),
        Outcome.CRASHED, "SIGALRM",
    ),
    "the end of its own group": (c_program("kill(0, SIGKILL); " + _SAY), Outcome.CRASHED, "SIGKILL"),
    "waiting for ever": (
        c_program("if (n > 1000) for (;;) pause(); " + _SAY), Outcome.TIMEOUT, _HELD_OUT
    ),
    "a constructor that answers": (
        c_program(
            _SAY, '__attribute__((constructor)) static void answer(void) { puts("4"); fflush(stdout); _exit(0); }\n'
        ), Outcome.WRONG, "expected '3', got '4'",
    ),
    "the answer to another question": (
        c_program('printf("%ld\\n", n > 1000 ? n % 7 + 7 : count(0, n) % 7); return 0;'), Outcome.WRONG, _HELD_OUT
    ),
}  # fmt: skip

UNBUILT = {
    "the host's files in diagnostics": '#include "/etc/passwd"\n#include "/proc/1/environ"\n' + ORIGINAL,
    "the host's files in the program": ORIGINAL + '__asm__(".incbin \\"/etc/shadow\\"");\n',
    "the answers": '#include "@ANSWERS@/large.out"\n' + ORIGINAL,
    "standard input": "#include </dev/stdin>\n" + "#error nothing there\n",
    "itself": "#include __FILE__\n" + ORIGINAL,
    "a flood of diagnostics": ORIGINAL + '#pragma GCC warning "root"\n' * 5000 + "#error end\n",
    "a bomb of macros": "".join(f"#define A{i} A{i - 1} A{i - 1} A{i - 1} A{i - 1}\n" for i in range(1, 20))
    + "#define A0 x+\nint y = A19 0;\n",
    "a bomb of data": "char all[700 << 20] = {1};\n" + ORIGINAL,
}

HONEST = {
    "a child that is waited for": c_program(
        _PIPE + "pid_t p = fork(); if (p == 0) { got = count(0, n / 2); write(ends[1], &got, 8); _exit(0); } "
        "long rest = count(n / 2, n); read(ends[0], &got, 8); waitpid(p, 0, 0); "
        'printf("%ld\\n", (got + rest) % 7); return 0;'
    ),
    "deep recursion": c_program(
        "volatile long deep = dive(1000000); (void)deep; " + _SAY,
        "__attribute__((noinline)) static long dive(long n) { volatile char room[64]; room[n & 63] = 1; "
        "return n ? dive(n - 1) + room[n & 63] : 0; }\n",
    ),
    "much memory within the limit": c_program(
        'size_t size = 200u << 20; char *all = malloc(size); memset(all, n & 1, size); n += all[size / 2]; ' + _SAY
    ),
    "frightening words": c_program(
        "/* system(\"rm -rf /\"); ptrace; fork bomb; LD_PRELOAD; /proc/self/mem; #include </etc/passwd> */ " + _SAY
    ),
    "read and write": _HEAD
    + 'int main(void) { char c[64] = ""; for (size_t at = 0, k; (k = (size_t)read(0, c + at, 1)) == 1; at += k) {} '
    "c[0] = (char)('0' + count(0, atol(c)) % 7); write(1, c, 1); return close(1); }\n",
    "a mapped input": _HEAD
    + "int main(void) { struct stat s; fstat(0, &s); char *all = mmap(0, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, 0, "
    '0); printf("%ld", count(0, atol(all)) % 7); return 0; }\n',
    "getline": _HEAD
    + "int main(void) { char *line = NULL; size_t room = 0; if (getline(&line, &room, stdin) < 0) return 1; "
    'printf("%ld\\n\\n", count(0, atol(line)) % 7); free(line); return 0; }\n',
    "an output written backwards": c_program(
        "char c = (char)('0' + count(0, n) % 7); pwrite(1, \"\\n\", 1, 1); pwrite(1, &c, 1, 0); exit(256);"
    ),
    "pragmas and fast mathematics": "#pragma GCC optimize(\"Ofast\")\n" + ORIGINAL,
}  # fmt: skip
