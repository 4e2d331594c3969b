/* The system calls that a program under test may make; part of shim.c.
 *
 * An allow-list: what computes, reads, writes and waits.  What is not listed is refused; a call newer than the list is
 * answered "no such call", so that a library takes its older way.  Left out is what is dangerous, what leaves the
 * namespaces, and what could carry a message from one run to the next: a value kept in an inode, in what is cached,
 * or in a counter that the whole machine shares.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#error "maxcode's sandbox knows x86_64 and aarch64 only"
#endif

#define X32_BIT 0x40000000u
#define LAST_KNOWN 462 /* mseal, Linux 6.10 */

/* BUILDS: compilers, generators, checkers.  RUNS: a program that needs the host's files, a module or one built with a
 * sanitizer.  SCRIPTS: a program with a runtime (an interpreter, a garbage
 * collector), of which it sees a copy that all such runs share.  BARE: a compiled program.  CALLS: a compiled function; its process alone is watched, so it may have
 * threads but no children.  DEVICE, with one of them: it may speak to a GPU, whose driver is asked by ioctl about
 * everything, and whose library has pipes, memory files and sockets of this namespace for itself.  PAIRED, with a build or
 * a script: it may make a pair of sockets that are connected to one another.  SINGLE, with a build: no children.
 * TALKS, with BUILDS or RUNS: a command of a repository, which may also talk over such a pair.  HEARS, with RUNS: it may
 * change what the end of a child does, because its time is counted in another way too. */
enum mode {
    BUILDS = 1, RUNS = 2, BARE = 4, CALLS = 8, SCRIPTS = 16, DEVICE = 32, PAIRED = 64, SINGLE = 128, TALKS = 256, HEARS = 512
};
#define HOSTED (BUILDS | RUNS | SCRIPTS)
#define LOCKING (BUILDS | RUNS)
#define COMPILED (BARE | CALLS)
#define TESTED (RUNS | BARE | CALLS | SCRIPTS)
#define FORKING (BUILDS | RUNS | BARE | SCRIPTS)
#define ALL (FORKING | CALLS)

struct allowed {
    unsigned modes;
    const int *calls;
    size_t count;
};

#define INTS(...) (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int)
#define WORDS(...) (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

/* Calls that older headers have no name for are numbers, the same on all machines. */
static const struct allowed allowed[] = {
    /* files, of which none can be written but in a build */
    {ALL, INTS(SYS_read, SYS_write, SYS_pread64, SYS_pwrite64, SYS_readv, SYS_writev, SYS_preadv, SYS_pwritev,
               SYS_preadv2, SYS_pwritev2, SYS_lseek, SYS_close, SYS_close_range, SYS_dup, SYS_dup3, SYS_fcntl,
               SYS_ioctl, SYS_ftruncate, SYS_truncate, SYS_fsync, SYS_fdatasync, SYS_sendfile,
               SYS_copy_file_range, SYS_openat, SYS_openat2, SYS_newfstatat, SYS_fstat, SYS_statx, SYS_statfs,
               SYS_fstatfs, SYS_faccessat, 439 /* faccessat2 */, SYS_readlinkat, SYS_getdents64, SYS_getcwd,
               SYS_chdir, SYS_fchdir, SYS_umask, SYS_mkdirat, SYS_unlinkat, SYS_renameat, SYS_renameat2, SYS_linkat,
               SYS_symlinkat, SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_listxattr, SYS_llistxattr,
               SYS_flistxattr)},
    /* memory */
    {ALL, INTS(SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_msync, SYS_mlock, SYS_mlock2,
               SYS_munlock, SYS_mlockall, SYS_munlockall, SYS_pkey_alloc, SYS_pkey_free, SYS_pkey_mprotect,
               453 /* map_shadow_stack */, 462 /* mseal */)},
    /* processes and threads, and what they know of themselves (there is only one user to become); sendmsg, with which
     * the shim's own note is sent: the program has no socket */
    {ALL, INTS(SYS_clone, SYS_execveat, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_restart_syscall, SYS_futex,
               449 /* futex_waitv */, SYS_set_robust_list, SYS_set_tid_address, SYS_rseq, SYS_membarrier, SYS_prctl,
               SYS_sendmsg, SYS_getpid, SYS_getppid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
               SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid,
               SYS_setresuid, SYS_setresgid, SYS_getpgid, SYS_getsid, SYS_setsid, SYS_setpgid, SYS_capget,
               SYS_getrlimit, SYS_setrlimit, SYS_prlimit64, SYS_getrusage, SYS_uname, SYS_getrandom, SYS_sysinfo)},
    /* signals, clocks, waiting, and whose turn it is */
    {ALL, INTS(SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigtimedwait,
               SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_rt_sigsuspend, SYS_sigaltstack, SYS_kill, SYS_tkill,
               SYS_tgkill, SYS_signalfd4, SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep,
               SYS_gettimeofday, SYS_times, SYS_getitimer, SYS_setitimer, SYS_ppoll, SYS_pselect6,
               SYS_epoll_create1, SYS_epoll_ctl,
               SYS_epoll_pwait, 441 /* epoll_pwait2 */, SYS_eventfd2, SYS_sched_yield, SYS_sched_getaffinity,
               SYS_sched_getscheduler, SYS_sched_getparam, SYS_sched_getattr, SYS_sched_get_priority_max,
               SYS_sched_get_priority_min, SYS_sched_rr_get_interval, SYS_getcpu, SYS_getpriority)},
    /* children; and holes in a function's outputs, which the shim would fill */
    {FORKING, INTS(SYS_execve, SYS_fallocate)},
    /* timers go off while a process stands still, and so in the time of the side whose turn it is: 4 us each */
    {FORKING | DEVICE, INTS(SYS_timer_create, SYS_timer_settime, SYS_timer_gettime, SYS_timer_getoverrun,
                            SYS_timer_delete, SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime)},
    /* every pipe has a number of the whole machine's */
    {HOSTED, INTS(SYS_pipe2, SYS_splice, SYS_tee, SYS_vmsplice)},
    /* Java makes a pair before it reads its first file; it has the number of a pipe, and reaches nobody else */
    {PAIRED | TALKS, INTS(SYS_socketpair)},
    {TALKS, INTS(SYS_sendto, SYS_recvfrom, SYS_recvmsg, SYS_shutdown, SYS_getsockopt, SYS_getsockname, SYS_getpeername)},
    /* a lock is seen by all who have the file open, and what a program under test can lock, others have open too */
    {LOCKING, INTS(SYS_flock)},
    /* what is kept in an inode, and pidfds, numbered likewise */
    {BUILDS, INTS(SYS_fchmod, SYS_fchmodat, 452 /* fchmodat2 */, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_mknodat,
                  434 /* pidfd_open */, 424 /* pidfd_send_signal */, SYS_sync, SYS_syncfs, SYS_sync_file_range)},
    {DEVICE, INTS(SYS_pipe2, SYS_memfd_create, SYS_socket, SYS_socketpair, SYS_bind, SYS_listen, SYS_accept4,
                  SYS_connect, SYS_getsockname, SYS_getsockopt, SYS_setsockopt, SYS_recvmsg, SYS_sendto, SYS_recvfrom,
                  SYS_shutdown, SYS_get_mempolicy, SYS_set_mempolicy, SYS_mbind,
                  SYS_sched_setaffinity /* without it CUDA does not start: it visits every core */)},
#if defined(__x86_64__)
    {DEVICE, INTS(SYS_pipe)},
    {ALL, INTS(SYS_open, SYS_creat, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_mkdir, SYS_rmdir, SYS_unlink,
               SYS_rename, SYS_link, SYS_symlink, SYS_getdents, SYS_dup2, SYS_poll, SYS_select, SYS_epoll_create,
               SYS_epoll_wait, SYS_eventfd, SYS_signalfd, SYS_alarm, SYS_pause, SYS_time, SYS_getpgrp, SYS_arch_prctl)},
    {FORKING, INTS(SYS_fork, SYS_vfork)},
    {HOSTED, INTS(SYS_pipe)},
    {BUILDS, INTS(SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_mknod)},
#endif
};

/* What a listed call's argument must be besides: its low word, under the mask, one (or none) of the values.  SILENTLY:
 * what is refused is answered as if it were done. */
struct condition {
    int call;
    unsigned modes;
    enum { ONE_OF, NONE_OF, SILENTLY_NONE_OF } sense;
    int argument;
    uint32_t mask;
    const uint32_t *values;
    size_t count;
};

#define WHOLE 0xffffffffu
#define NEW_NAMESPACES 0x7e020000u /* every CLONE_NEW... flag that clone() takes */
#define SHARED_ANONYMOUS (MAP_SHARED | MAP_ANONYMOUS) /* MAP_SHARED_VALIDATE has the bit too */
#define DESCRIPTORS                                                                                               \
    F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETOWN, F_SETOWN, F_GETOWN_EX, F_SETOWN_EX,       \
        F_GETSIG, F_SETSIG, F_GETPIPE_SZ, F_SETPIPE_SZ, F_GET_SEALS, F_GET_RW_HINT, 1027 /* F_DUPFD_QUERY */
#define LOCKS F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW
#define PLAIN /* no MSG_OOB */                                                                                     \
    (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_PEEK | MSG_WAITALL | MSG_TRUNC | MSG_MORE | MSG_EOR | MSG_CMSG_CLOEXEC)
#define CLOCKS_OF_1 0xfffffff0u /* the shim's processor time, which tells what earlier runs gave it to do */

static const struct condition conditions[] = {
    /* is it a terminal (TCGETS2 too), what can be read of it; and what a copy asks for: FICLONE, GETFLAGS, FIEMAP */
    {SYS_ioctl, ALL, ONE_OF, 1, WHOLE,
     WORDS(TCGETS, 0x802c542a, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, 0x40049409, 0x80086601,
           0xc020660b)},
    /* descriptors, their flags, locks and owners; the room of a pipe; which seals and hint, but setting neither */
    {SYS_fcntl, LOCKING, ONE_OF, 1, WHOLE, WORDS(DESCRIPTORS, LOCKS)},
    /* a lock's range holds a number of 126 bits, for whoever has the same file open at the time: /dev/null, say */
    {SYS_fcntl, COMPILED | SCRIPTS, ONE_OF, 1, WHOLE, WORDS(DESCRIPTORS)},
    /* its name, its end, its rights, its clock; what a processor has; names of mappings; its tracer: there is none */
    {SYS_prctl, ALL, ONE_OF, 0, WHOLE,
     WORDS(PR_SET_NAME, PR_GET_NAME, PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_SET_DUMPABLE, PR_GET_DUMPABLE,
           PR_GET_KEEPCAPS, PR_GET_SECCOMP, PR_CAPBSET_READ, PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_SET_TSC,
           PR_GET_TSC, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_GET_TID_ADDRESS, PR_SET_THP_DISABLE,
           PR_GET_THP_DISABLE, PR_GET_SPECULATION_CTRL, PR_SVE_SET_VL, PR_SVE_GET_VL, PR_PAC_RESET_KEYS,
           PR_SET_TAGGED_ADDR_CTRL, PR_GET_TAGGED_ADDR_CTRL, 60, 61 /* PR_PAC_..._ENABLED_KEYS */,
           63, 64 /* PR_SME_... */, 65, 66 /* PR_..._MDWE */, 0x53564d41 /* PR_SET_VMA */,
           PR_SET_PTRACER, 0x41555856 /* PR_GET_AUXV */)},
    /* not REMOVE, which makes holes; not COLD, PAGEOUT, COLLAPSE, which change what is cached; not MERGEABLE */
    {SYS_madvise, ALL, ONE_OF, 2, WHOLE,
     WORDS(MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE, MADV_DONTFORK,
           MADV_DOFORK, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP, MADV_WIPEONFORK, MADV_KEEPONFORK,
           22, 23 /* MADV_POPULATE_... */, 102, 103 /* MADV_GUARD_... */)},
    /* not RWF_NOWAIT, which reads only what is resident, nor what later kernels know about caching */
    {SYS_preadv2, ALL, ONE_OF, 5, ~(uint32_t)(RWF_HIPRI | RWF_DSYNC | RWF_SYNC), WORDS(0)},
    {SYS_pwritev2, ALL, ONE_OF, 5, ~(uint32_t)(RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_APPEND),
     WORDS(0)},
    {SYS_prlimit64, ALL, ONE_OF, 0, WHOLE, WORDS(0)},
    /* a thread that begins with its parent's tracer, which the sampler does not know of, would never run */
    {SYS_clone, ALL, ONE_OF, 0, NEW_NAMESPACES | CLONE_PTRACE, WORDS(0)},
    {SYS_clone, TESTED, ONE_OF, 0, CLONE_PIDFD | CLONE_PARENT, WORDS(0)},
    {SYS_clone, CALLS | SINGLE, ONE_OF, 0, CLONE_THREAD, WORDS(CLONE_THREAD)},
#if defined(__x86_64__)
    {SYS_fork, SINGLE, ONE_OF, 0, 0, WORDS(1)}, /* never: no word under an empty mask is 1 */
    {SYS_vfork, SINGLE, ONE_OF, 0, 0, WORDS(1)},
#endif
    /* a parent that ignores SIGCHLD is never charged for what its children used; the runtimes of Go and JavaScript set
     * a handler for every signal and end if they cannot, so where they may run (a repository's benchmark runs whatever
     * it likes) the call seems to work and changes nothing, but where the control group counts (HEARS) */
    {SYS_rt_sigaction, COMPILED, NONE_OF, 0, WHOLE, WORDS(SIGCHLD)},
    {SYS_rt_sigaction, RUNS | SCRIPTS, SILENTLY_NONE_OF, 0, WHOLE, WORDS(SIGCHLD)},
    {SYS_socket, DEVICE, ONE_OF, 0, WHOLE, WORDS(AF_UNIX)},
    {SYS_socketpair, PAIRED | TALKS | DEVICE, ONE_OF, 0, WHOLE, WORDS(AF_UNIX)},
    /* no descriptors pass over a pair: the note goes out under a number that no program can have */
    {SYS_sendmsg, PAIRED | TALKS, ONE_OF, 0, WHOLE, WORDS(NOTES)},
    /* to nobody but the other end: half of a pair of datagrams could write to any socket whose file it sees */
    {SYS_sendto, TALKS, ONE_OF, 5, WHOLE, WORDS(0)},
    {SYS_sendto, TALKS, ONE_OF, 3, ~(uint32_t)PLAIN, WORDS(0)},
    {SYS_recvfrom, TALKS, ONE_OF, 3, ~(uint32_t)PLAIN, WORDS(0)},
    {SYS_recvmsg, TALKS, ONE_OF, 2, ~(uint32_t)PLAIN, WORDS(0)},
    /* not the cookie of a socket nor a pidfd of its peer, which have numbers */
    {SYS_getsockopt, TALKS, ONE_OF, 1, WHOLE, WORDS(SOL_SOCKET)},
    {SYS_getsockopt, TALKS, ONE_OF, 2, WHOLE,
     WORDS(SO_TYPE, SO_ERROR, SO_DOMAIN, SO_PROTOCOL, SO_ACCEPTCONN, SO_SNDBUF, SO_RCVBUF, SO_PEERCRED)},
    /* behind both is a file of the kernel's, with a number of the whole machine's */
    {SYS_mmap, COMPILED, ONE_OF, 3, MAP_HUGETLB, WORDS(0)},
    {SYS_mmap, COMPILED, NONE_OF, 3, SHARED_ANONYMOUS, WORDS(SHARED_ANONYMOUS)},
    {SYS_clock_gettime, TESTED, NONE_OF, 0, ~7u, WORDS(CLOCKS_OF_1)},
    {SYS_clock_getres, TESTED, NONE_OF, 0, ~7u, WORDS(CLOCKS_OF_1)},
    {SYS_clock_nanosleep, TESTED, NONE_OF, 0, ~7u, WORDS(CLOCKS_OF_1)},
    {SYS_timer_create, TESTED, NONE_OF, 0, ~7u, WORDS(CLOCKS_OF_1)},
};

/* The conditions that hold in a mode; the driver of a GPU lives on ioctl, and maps its memory in every way there is. */
static bool holds(const struct condition *one, enum mode mode) {
    if (mode & HEARS && one->call == SYS_rt_sigaction) return false;
    return one->modes & mode && !(mode & DEVICE && (one->call == SYS_ioctl || one->call == SYS_mmap));
}

/* REFUSED is what a table of zeros holds.  TOLD: the shim answers it (shim_told.h). */
enum answer { REFUSED, ALLOWED, CHECKED, TOLD, ABSENT };

struct program {
    struct sock_filter code[1024];
    unsigned short length;
};

static void emit(struct program *out, unsigned code, uint32_t value, unsigned if_true, unsigned if_false) {
    if (out->length == sizeof out->code / sizeof out->code[0]) abort();
    out->code[out->length++] = (struct sock_filter){(uint16_t)code, (uint8_t)if_true, (uint8_t)if_false, value};
}

static void emit_load(struct program *out, size_t offset) {
    emit(out, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void emit_answer(struct program *out, uint32_t answer) { emit(out, BPF_RET | BPF_K, answer, 0, 0); }

static void emit_condition(struct program *out, const struct condition *one) {
    emit_load(out, offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)one->argument);
    if (one->mask != WHOLE) emit(out, BPF_ALU | BPF_AND | BPF_K, one->mask, 0, 0);
    for (size_t i = 0; i < one->count; i++) {
        const bool last = i == one->count - 1;
        const unsigned to_the_end = (unsigned)(one->count - 1 - i); /* where the refusal stands */
        if (one->sense == ONE_OF)
            emit(out, BPF_JMP | BPF_JEQ | BPF_K, one->values[i], to_the_end + 1, 0);
        else
            emit(out, BPF_JMP | BPF_JEQ | BPF_K, one->values[i], to_the_end, last);
    }
    emit_answer(out, SECCOMP_RET_ERRNO | (one->sense == SILENTLY_NONE_OF ? 0 : EPERM));
}

static void emit_checks(struct program *out, enum mode mode, uint32_t call) {
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++)
        if ((uint32_t)conditions[i].call == call && holds(&conditions[i], mode)) emit_condition(out, &conditions[i]);
    emit_answer(out, SECCOMP_RET_ALLOW);
}

static void emit_leaf(struct program *out, enum mode mode, uint32_t call, enum answer answer) {
    switch (answer) {
    case ALLOWED: emit_answer(out, SECCOMP_RET_ALLOW); break;
    case CHECKED: emit_checks(out, mode, call); break;
    case TOLD: emit_answer(out, SECCOMP_RET_USER_NOTIF); break;
    case ABSENT: emit_answer(out, SECCOMP_RET_ERRNO | ENOSYS); break;
    case REFUSED: emit_answer(out, SECCOMP_RET_ERRNO | EPERM); break;
    }
}

static bool begins_range(const uint8_t *answers, uint32_t call) {
    return answers[call] != answers[call - 1] || answers[call] == CHECKED;
}

/* Decides about the calls from `first` to `last` by halving their ranges; what needs no argument the kernel then works
 * out once, and never runs the filter for. */
static void emit_search(struct program *out, enum mode mode, const uint8_t *answers, uint32_t first, uint32_t last) {
    uint32_t starts[LAST_KNOWN + 2], count = 0;
    for (uint32_t call = first + 1; call <= last; call++)
        if (begins_range(answers, call)) starts[count++] = call;
    if (count == 0) {
        emit_leaf(out, mode, first, answers[first]);
        return;
    }
    const uint32_t middle = starts[count / 2];
    emit(out, BPF_JMP | BPF_JGE | BPF_K, middle, 0, 1);
    const unsigned short far = out->length;
    emit(out, BPF_JMP | BPF_JA, 0, 0, 0); /* a conditional jump reaches 255 instructions, this one all */
    emit_search(out, mode, answers, first, middle - 1);
    out->code[far].k = (uint32_t)(out->length - far - 1);
    emit_search(out, mode, answers, middle, last);
}

static void answer_calls(enum mode mode, uint8_t *answers) {
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        for (size_t j = 0; allowed[i].modes & mode && j < allowed[i].count; j++) answers[allowed[i].calls[j]] = ALLOWED;
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++)
        if (holds(&conditions[i], mode) && answers[conditions[i].call]) answers[conditions[i].call] = CHECKED;
    if (mode & TESTED) answers[SYS_sysinfo] = TOLD;
    answers[SYS_clone3] = ABSENT; /* its flags lie in memory no filter can read */
    answers[LAST_KNOWN + 1] = ABSENT;
}

static void make_filter(struct program *out, enum mode mode) {
    uint8_t answers[LAST_KNOWN + 2] = {0}; /* the last stands for all that is newer */
    answer_calls(mode, answers);
    out->length = 0;
    emit_load(out, offsetof(struct seccomp_data, arch));
    emit(out, BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0);
    emit_answer(out, SECCOMP_RET_KILL_PROCESS);
    emit_load(out, offsetof(struct seccomp_data, nr));
    emit(out, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
    emit_answer(out, SECCOMP_RET_KILL_PROCESS);
    emit_search(out, mode, answers, 0, LAST_KNOWN + 1);
}

/* Whether it is in force; `listener` is then where to hear of calls that are told, -1 where there are none. */
static bool install_filter(struct program *filter, enum mode mode, int *listener) {
    struct sock_fprog program = {filter->length, filter->code};
    /* SPEC_ALLOW: a filter would else slow the program on older kernels, and there is no secret in it to protect. */
    const unsigned flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW | (mode & TESTED ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return false;
    const long answer = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    *listener = mode & TESTED ? (int)answer : -1;
    return answer >= 0;
}
