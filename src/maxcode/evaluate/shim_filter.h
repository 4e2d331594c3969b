/* The system calls a program under test is refused; part of shim.c.
 *
 * A deny-list: what is dangerous, what leaves the namespaces, and what could carry a message from one run to the next
 * (a value stored in an inode, in a lock, in what is cached).  Calls newer than the list are answered "no such call".
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
#define NEW_NAMESPACES 0x7e020000u /* every CLONE_NEW... flag that clone() takes */

/* IN_RUNS and EQUAL_IN_RUNS: refused to what is measured; compilers, generators and checkers need them.  IN_CALLS and
 * NO_BIT_IN_CALLS: to a function under test, whose process alone is watched: it may have threads but no children. */
enum mode { BUILDS, RUNS, CALLS };
enum when { ALWAYS, IN_RUNS, IN_CALLS, EQUAL_IN_RUNS, NO_BIT_IN_CALLS, EQUAL, NOT_EQUAL, ANY_BIT };

struct rule {
    int call;
    enum when when;
    int argument;
    uint32_t value;
};

static const struct rule rules[] = {
    /* the network, the virtual machine's host included (AF_VSOCK knows no network namespace) */
    {SYS_socket}, {SYS_socketpair},
    /* other processes */
    {SYS_ptrace}, {SYS_process_vm_readv}, {SYS_process_vm_writev}, {SYS_pidfd_getfd}, {440 /* process_madvise */},
    {SYS_kcmp}, {SYS_migrate_pages}, {SYS_move_pages}, {SYS_prlimit64, NOT_EQUAL, 0, 0},
    /* large doors into the kernel */
    {425 /* io_uring_setup */}, {426}, {427}, {SYS_bpf}, {SYS_perf_event_open}, {SYS_userfaultfd}, {SYS_seccomp},
    {SYS_keyctl}, {SYS_add_key}, {SYS_request_key}, {SYS_init_module}, {SYS_finit_module}, {SYS_delete_module},
    {SYS_kexec_load}, {SYS_reboot}, {SYS_acct}, {SYS_syslog}, {SYS_swapon}, {SYS_swapoff}, {SYS_quotactl},
    {SYS_fanotify_init}, {SYS_name_to_handle_at}, {SYS_open_by_handle_at}, {SYS_personality}, {SYS_vhangup},
    {SYS_ioctl, EQUAL, 1, 0x5412 /* TIOCSTI */},
    /* namespaces and mounts */
    {SYS_unshare}, {SYS_setns}, {SYS_clone, ANY_BIT, 0, NEW_NAMESPACES}, {SYS_mount}, {SYS_umount2}, {SYS_chroot},
    {SYS_pivot_root}, {428 /* open_tree */}, {429}, {430}, {431}, {432}, {433}, {442 /* mount_setattr */},
    {457 /* statmount */}, {458}, {SYS_sethostname}, {SYS_setdomainname},
    /* memory and messages that outlive a process */
    {SYS_memfd_create}, {447 /* memfd_secret */}, {SYS_shmget}, {SYS_shmat}, {SYS_msgget}, {SYS_semget},
    {SYS_mq_open}, {SYS_mq_unlink},
    /* clocks, and a larger share of the machine */
    {SYS_clock_settime}, {SYS_settimeofday}, {SYS_adjtimex}, {SYS_clock_adjtime}, {SYS_sched_setaffinity},
    {SYS_sched_setscheduler}, {SYS_sched_setparam}, {SYS_sched_setattr}, {SYS_setpriority}, {SYS_ioprio_set},
    {SYS_prctl, EQUAL, 0, 62 /* PR_SCHED_CORE: no neighbour on the same core */},
    /* a note left in an inode shared by all runs: mode, owner, times, attributes, hints */
    {SYS_fchmod, IN_RUNS}, {SYS_fchmodat, IN_RUNS}, {452 /* fchmodat2 */, IN_RUNS}, {SYS_fchown, IN_RUNS},
    {SYS_fchownat, IN_RUNS}, {SYS_utimensat, IN_RUNS}, {SYS_setxattr}, {SYS_lsetxattr}, {SYS_fsetxattr},
    {SYS_removexattr}, {SYS_lremovexattr}, {SYS_fremovexattr}, {SYS_ioctl, EQUAL, 1, 0x40086602 /* FS_IOC_SETFLAGS */},
    {SYS_ioctl, EQUAL, 1, 0x401c5820 /* FS_IOC_FSSETXATTR */}, {SYS_fcntl, EQUAL, 1, 1036 /* F_SET_RW_HINT */},
    {SYS_mbind}, {450 /* set_mempolicy_home_node */}, /* kept by page in the inode of a shared mapping */
    /* a note left in what is cached: asking what is resident, and pushing it out */
    {SYS_mincore}, {451 /* cachestat */}, {SYS_fadvise64}, {SYS_readahead}, {SYS_madvise, EQUAL, 2, 20 /* COLD */},
    {SYS_madvise, EQUAL, 2, 21 /* PAGEOUT */}, {SYS_madvise, EQUAL, 2, 25 /* COLLAPSE */},
    {SYS_preadv2, ANY_BIT, 5, 8 /* RWF_NOWAIT: only what is resident */}, {SYS_io_setup /* its reads know it too */},
    /* of a function: children, which are not watched, and holes in its outputs, which the shim would fill */
    {SYS_clone, NO_BIT_IN_CALLS, 0, 0x10000 /* CLONE_THREAD */}, {SYS_execve, IN_CALLS}, {SYS_fallocate, IN_CALLS},
    {SYS_madvise, EQUAL, 2, 9 /* REMOVE */},
    /* a parent that ignores SIGCHLD is never charged for what its children used */
    {SYS_rt_sigaction, EQUAL_IN_RUNS, 0, SIGCHLD},
#if defined(__x86_64__)
    {SYS_fork, IN_CALLS}, {SYS_vfork, IN_CALLS}, {SYS_chmod, IN_RUNS},
    {SYS_kexec_file_load}, {SYS_iopl}, {SYS_ioperm}, {SYS_modify_ldt},
    {SYS_chown, IN_RUNS}, {SYS_lchown, IN_RUNS}, {SYS_utime, IN_RUNS}, {SYS_utimes, IN_RUNS}, {SYS_futimesat, IN_RUNS},
#endif
};

struct program {
    struct sock_filter code[16 + 5 * sizeof rules / sizeof rules[0]];
    unsigned short length;
};

static void emit(struct program *out, unsigned short code, uint32_t value, unsigned if_true, unsigned if_false) {
    out->code[out->length++] = (struct sock_filter){code, (uint8_t)if_true, (uint8_t)if_false, value};
}

static void emit_load(struct program *out, size_t offset) {
    emit(out, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void emit_answer(struct program *out, uint32_t answer) { emit(out, BPF_RET | BPF_K, answer, 0, 0); }

static bool applies(const struct rule *rule, enum mode mode) {
    if (rule->when == IN_RUNS || rule->when == EQUAL_IN_RUNS) return mode != BUILDS;
    if (rule->when == IN_CALLS || rule->when == NO_BIT_IN_CALLS) return mode == CALLS;
    return true;
}

static void emit_rule(struct program *out, const struct rule *rule, enum mode mode) {
    const bool on_bits = rule->when == ANY_BIT || rule->when == NO_BIT_IN_CALLS;
    const unsigned short compare = on_bits ? BPF_JMP | BPF_JSET | BPF_K : BPF_JMP | BPF_JEQ | BPF_K;
    const bool on_argument = rule->when >= EQUAL_IN_RUNS;
    const bool inverted = rule->when == NOT_EQUAL || rule->when == NO_BIT_IN_CALLS;
    if (!applies(rule, mode)) return;
    emit(out, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rule->call, 0, on_argument ? 4 : 1);
    if (on_argument) {
        emit_load(out, offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)rule->argument);
        emit(out, compare, rule->value, inverted, !inverted);
    }
    emit_answer(out, SECCOMP_RET_ERRNO | EPERM);
    if (on_argument) emit_load(out, offsetof(struct seccomp_data, nr));
}

static void make_filter(struct program *out, enum mode mode) {
    out->length = 0;
    emit_load(out, offsetof(struct seccomp_data, arch));
    emit(out, BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0);
    emit_answer(out, SECCOMP_RET_KILL_PROCESS);
    emit_load(out, offsetof(struct seccomp_data, nr));
    emit(out, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
    emit_answer(out, SECCOMP_RET_KILL_PROCESS);
    emit(out, BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 1, 0);
    emit(out, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1); /* its flags lie in memory no filter can read */
    emit_answer(out, SECCOMP_RET_ERRNO | ENOSYS);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) emit_rule(out, &rules[i], mode);
    emit_answer(out, SECCOMP_RET_ALLOW);
}

static bool install_filter(struct program *filter) {
    struct sock_fprog program = {filter->length, filter->code};
    /* SPEC_ALLOW: a filter would else slow the program on older kernels, and there is no secret in it to protect. */
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}
