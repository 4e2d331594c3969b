/* The sandbox's self-test: tries one forbidden thing and says whether it was held.
 *
 *   probe ATTACK     exit status 0: held; 1: got through, with what it was on standard output
 *
 * selftest.py runs it inside the sandbox and judges the attacks on resources by how the run ended.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static int broken;

/* `result` is that of a call, below zero if it failed. */
static void must_fail(const char *what, long result) {
    if (result < 0) return;
    printf("%s worked; ", what);
    broken = 1;
}

static void try_writing(void) {
    const char *folders[] = {"/", "/tmp", "/dev", "/dev/shm", "/usr", "/usr/lib", "/etc", "/src", "/proc/self", "."};
    char path[64];
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/probe", folders[i]);
        must_fail(path, open(path, O_CREAT | O_WRONLY, 0600));
        must_fail(path, mkdir(path, 0700));
    }
    must_fail("open /proc/self/mem for writing", open("/proc/self/mem", O_WRONLY));
    must_fail("open /usr/bin/env for writing", open("/usr/bin/env", O_WRONLY));
}

static void try_network(void) {
    const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, AF_PACKET, AF_VSOCK, AF_ALG};
    int pair[2];
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        must_fail("socket", socket(families[i], SOCK_STREAM, 0));
        must_fail("socket", socket(families[i], SOCK_DGRAM, 0));
    }
    must_fail("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

/* In a command of a repository: a pair carries bytes between its own ends, and nothing else. */
static void try_pairs(void) {
    char rights[CMSG_SPACE(sizeof(int))] = {0}, room[8];
    struct iovec part = {room, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = rights, .msg_controllen = sizeof rights};
    struct sockaddr other = {AF_UNIX, "/dev/log"};
    socklen_t size = sizeof room;
    int pair[2], fd = 0;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) must_fail("being refused a pair", 0);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_len = CMSG_LEN(sizeof fd), header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS;
    must_fail("passing a descriptor", sendmsg(pair[0], &message, 0));
    for (fd = pair[1] + 1; fd < 1024; fd++)
        if (dup2(pair[0], fd) == fd) must_fail("passing one under another number", sendmsg(fd, &message, 0));
    must_fail("naming another socket", sendto(pair[0], room, 1, 0, &other, sizeof other) < 0 && errno == EPERM ? -1 : 0);
    must_fail("data out of band", sendto(pair[0], room, 1, MSG_OOB, NULL, 0) < 0 && errno == EPERM ? -1 : 0);
    must_fail("the number of a socket", getsockopt(pair[0], SOL_SOCKET, 57 /* SO_COOKIE */, room, &size));
    must_fail("bind", bind(pair[0], &other, sizeof other.sa_family));
    must_fail("connect", connect(pair[0], &other, sizeof other) < 0 && errno == EPERM ? -1 : 0);
    must_fail("socket", socket(AF_UNIX, SOCK_STREAM, 0));
}

static void try_reading(void) {
    const char *paths[] = {"/etc/shadow", "/etc/passwd", "/etc/hostname", "/root", "/home", "/var", "/boot", "/sys",
                           "/dev/sda", "/dev/vda", "/dev/mem", "/dev/kmsg", "/proc/kcore"};
    const char *parts[] = {"environ", "mem", "fd", "root", "cwd"}; /* of the shim */
    char path[64];
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) must_fail(paths[i], open(paths[i], O_RDONLY));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        snprintf(path, sizeof path, "/proc/%d/%s", getppid(), parts[i]);
        must_fail(path, open(path, O_RDONLY));
    }
}

static int look_at_library(struct dl_phdr_info *library, size_t size, void *unused) {
    struct statfs about;
    (void)size, (void)unused;
    if (library->dlpi_name[0] == '/' && !statfs(library->dlpi_name, &about) && about.f_type != TMPFS_MAGIC)
        must_fail(library->dlpi_name, 0);
    return 0;
}

/* In a bare session: no program of the host to read, and every library a copy in memory. */
static void try_host(void) {
    const char *paths[] = {"/usr/bin", "/usr/include", "/usr/share", "/usr/local", "/opt", "/etc/passwd"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) must_fail(paths[i], open(paths[i], O_RDONLY));
    dl_iterate_phdr(look_at_library, NULL);
}

static void try_mapping(const char *what, int flags) {
    must_fail(what, mmap(NULL, 1 << 21, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED ? -1 : 0);
}

/* In a bare session: whatever bears a number that the whole machine counts, or tells how the machine is. */
static void try_numbers(void) {
    const char *paths[] = {"/proc", "/proc/self/maps", "/proc/loadavg", "/sys", "/dev/zero", "/dev/fd"};
    const clockid_t clock_of_1 = ~1 * 8 | 2, clock_of_shim = ~getppid() * 8 | 2;
    struct sysinfo about;
    struct timespec used;
    int ends[2], pidfd;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) must_fail(paths[i], open(paths[i], O_RDONLY));
    must_fail("pipe", pipe(ends));
    must_fail("pipe2", pipe2(ends, O_CLOEXEC));
    must_fail("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    try_mapping("mapping shared memory", MAP_SHARED | MAP_ANONYMOUS);
    try_mapping("mapping huge pages", MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE);
    must_fail("memfd_create", memfd_create("note", 0));
    must_fail("pidfd_open", syscall(SYS_pidfd_open, getpid(), 0));
    const long child = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, &pidfd, 0, 0);
    if (child == 0) _exit(0);
    must_fail("clone with a pidfd", child);
    must_fail("reading process 1's clock", clock_gettime(clock_of_1, &used));
    must_fail("reading the shim's clock", clock_gettime(clock_of_shim, &used));
    must_fail("opening standard input anew", getppid() == 1 ? open("/dev/stdin", O_RDONLY) : -1);
    must_fail("sysinfo", sysinfo(&about) || (about.totalram && about.procs == 1 && !about.loads[0]) ? -1 : 0);
}

static int visible_processes(void) {
    int count = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *one; processes && (one = readdir(processes));)
        count += one->d_name[0] >= '0' && one->d_name[0] <= '9';
    return count;
}

static void try_others(void) {
    char byte;
    const pid_t shim = getppid();
    struct iovec ours = {&byte, 1}, theirs = {&broken, 1};
    must_fail("ptrace attach", ptrace(PTRACE_ATTACH, shim, 0, 0));
    must_fail("ptrace seize", ptrace(PTRACE_SEIZE, shim, 0, 0));
    must_fail("process_vm_readv", process_vm_readv(shim, &ours, 1, &theirs, 1, 0));
    must_fail("pidfd_getfd", syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, shim, 0), 0, 0));
    must_fail("prlimit", prlimit(shim, RLIMIT_CPU, &(struct rlimit){1, 1}, NULL));
    if (visible_processes() > 2) must_fail("seeing other processes", 0);
    kill(shim, SIGKILL); /* must do nothing; were it to work, there would be no answer */
    kill(shim, SIGSTOP);
    if (shim == 1) kill(-1, SIGTERM); /* elsewhere -1 is everybody: try_not_being_alone */
}

static void must_not_start(const char *what, long pid) {
    if (pid == 0) _exit(0);
    must_fail(what, pid);
}

/* Where there are no namespaces, the numbers of other processes mean something. */
static void try_signalling(void) {
    siginfo_t told = {.si_code = SI_QUEUE};
    const pid_t others[] = {getppid(), 1};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        must_fail("kill", kill(others[i], 0));
        must_fail("tgkill", syscall(SYS_tgkill, others[i], others[i], 0));
        must_fail("tkill", syscall(SYS_tkill, others[i], 0));
        must_fail("rt_sigqueueinfo", syscall(SYS_rt_sigqueueinfo, others[i], 0, &told));
        must_fail("pidfd_send_signal",
                  syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, others[i], 0), 0, NULL, 0));
    }
}

/* In a build: the owner of its sources may be the owner of much else. */
static void try_modes(void) {
    const struct timespec times[2] = {{1, 1}, {1, 1}};
    must_fail("chmod", chmod("source", 0555));
    must_fail("fchmodat", fchmodat(AT_FDCWD, "source", 0555, 0));
    must_fail("fchmodat2", syscall(452, AT_FDCWD, "source", 0555, 0));
    must_fail("utimensat", utimensat(AT_FDCWD, "source", times, 0));
    must_fail("truncate", truncate("source", 0));
    must_fail("rename", rename("source", "other"));
    must_fail("link", link("source", "../t/link"));
}

/* Where there are no namespaces, being one process is what makes a run end. */
static void try_not_being_alone(void) {
    char *words[] = {"probe", "restarted", NULL};
    const pid_t shim = getppid();
    must_not_start("fork", fork());
    must_not_start("clone", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    must_not_start("clone that is waited for", syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0));
#ifdef SYS_fork
    must_not_start("the call fork", syscall(SYS_fork));
#endif
    const pid_t child = vfork();
    if (child == 0) _exit(0);
    must_fail("vfork", child);
    execve("/proc/self/exe", words, NULL);
    syscall(SYS_execveat, AT_FDCWD, "/proc/self/exe", words, NULL, 0);
    syscall(SYS_execveat, open("/proc/self/exe", O_RDONLY), "", words, NULL, AT_EMPTY_PATH);
    must_fail("finding others to signal", kill(-1, 0));
    must_fail("owning a descriptor's signals", fcntl(0, F_SETOWN, shim));
    must_fail("outliving the shim", prctl(PR_SET_PDEATHSIG, 0));
    must_fail("inotify_init1", syscall(SYS_inotify_init1, 0));
    must_fail("truncate", truncate("/usr/bin/env", 0));
}

/* Only an exec of itself leads here. */
static void restarted(void) { must_fail("exec", 0); }

static void try_notes(void) {
    const struct timespec times[2] = {{1, 1}, {1, 1}};
    unsigned char resident[1];
    void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, 0, 0);
    must_fail("mincore", page == MAP_FAILED ? -1 : mincore(page, 4096, resident));
    must_fail("memfd_create", memfd_create("note", 0));
    must_fail("shmget", shmget(0x6d61, 4096, IPC_CREAT | 0600));
    must_fail("msgget", msgget(0x6d61, IPC_CREAT | 0600));
    must_fail("semget", syscall(SYS_semget, 0x6d61, 1, IPC_CREAT | 0600));
    must_fail("mq_open", syscall(SYS_mq_open, "note", O_CREAT | O_RDWR, 0600, NULL));
    must_fail("writing to stdin", write(0, "x", 1));
    must_fail("truncating stdin", ftruncate(0, 1));
    page = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, open("/proc/self/fd/0", O_RDWR), 0);
    must_fail("mapping stdin for writing", page == MAP_FAILED ? -1 : 0);
    must_fail("fchmod", fchmod(0, 0700));
    must_fail("fchown", fchown(0, (uid_t)-1, (gid_t)-1));
    must_fail("futimens", futimens(0, times));
    must_fail("fsetxattr", fsetxattr(0, "user.note", "x", 1, 0));
    must_fail("F_SET_RW_HINT", fcntl(0, F_SET_RW_HINT, &(long){2}));
    must_fail("posix_fadvise", syscall(SYS_fadvise64, 0, 0, 0, POSIX_FADV_DONTNEED));
    page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, open("/proc/self/exe", O_RDONLY), 0);
    must_fail("mbind", syscall(SYS_mbind, page, 4096, 2 /* MPOL_BIND */, &(unsigned long){1}, 64, 0));
    must_fail("RWF_NOWAIT", preadv2(0, &(struct iovec){&resident, 1}, 1, 0, RWF_NOWAIT));
    const char *counters[] = {"/proc/vmstat", "/proc/stat", "/proc/pressure/cpu", "/proc/sys/fs/inode-nr"};
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        must_fail(counters[i], read(open(counters[i], O_RDONLY), resident, 1) > 0 ? 0 : -1);
}

static void try_namespaces(void) {
    must_fail("unshare", unshare(CLONE_NEWUSER));
    must_fail("clone in a new namespace", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    must_fail("clone3", syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS ? -1 : 0);
    must_fail("mount", mount("none", "/tmp", "tmpfs", 0, ""));
    must_fail("remount", mount("none", "/", "", MS_REMOUNT | MS_BIND, ""));
    must_fail("setns", setns(0, 0));
    must_fail("chroot", chroot("/usr"));
}

static void must_be_unlisted(const char *what, long call, int answer) {
    if (syscall(call, 0, 0, 0, 0, 0, 0) < 0 && errno == answer) return;
    must_fail(what, 0);
}

static volatile sig_atomic_t heard;

static void hear(int signal) { heard = signal; }

/* Whether what a signal does can be changed, whatever the call that changes it answers. */
static bool is_heard(int number) {
    heard = 0;
    signal(number, hear);
    raise(number);
    return heard == number;
}

static void try_doors(void) {
    const struct timespec now = {1, 0};
    cpu_set_t cores;
    sched_getaffinity(0, sizeof cores, &cores);
    must_fail("bpf", syscall(SYS_bpf, 0, 0, 0));
    must_fail("io_uring_setup", syscall(425, 1, 0));
    must_fail("perf_event_open", syscall(SYS_perf_event_open, 0, 0, 0, 0, 0));
    must_fail("userfaultfd", syscall(SYS_userfaultfd, 0));
    must_fail("keyctl", syscall(SYS_keyctl, 0, -3, 1));
    must_fail("personality", personality(ADDR_NO_RANDOMIZE));
    must_fail("clock_settime", clock_settime(CLOCK_REALTIME, &now));
    must_fail("sched_setaffinity", sched_setaffinity(0, sizeof cores, &cores));
    must_fail("setpriority", setpriority(PRIO_PROCESS, 0, 0));
    must_fail("changing what SIGCHLD does", is_heard(SIGCHLD) || !is_heard(SIGUSR1) ? 0 : -1);
    must_be_unlisted("a system call from the future", 500, ENOSYS);
    must_be_unlisted("remap_file_pages", SYS_remap_file_pages, EPERM);
    must_be_unlisted("inotify_init1", SYS_inotify_init1, EPERM);
    must_be_unlisted("get_mempolicy", SYS_get_mempolicy, EPERM);
    must_be_unlisted("get_robust_list", SYS_get_robust_list, EPERM);
    must_be_unlisted("setfsuid", SYS_setfsuid, EPERM);
    must_fail("an unlisted ioctl", ioctl(0, 0x5427 /* TIOCSBRK */) < 0 && errno == EPERM ? -1 : 0);
    must_fail("an unlisted prctl", prctl(36 /* PR_SET_CHILD_SUBREAPER */, 1, 0, 0, 0));
    must_fail("an unlisted fcntl", fcntl(0, F_NOTIFY, 0) < 0 && errno == EPERM ? -1 : 0);
    must_fail("an unlisted advice", madvise(NULL, 0, 12 /* MERGEABLE */));
}

/* Environment: PATH, HOME, TMPDIR, LC_ALL and the padding.  Descriptors: the three standard ones. */
static void try_inheriting(void) {
    extern char **environ;
    int variables = 0;
    for (char **one = environ; *one; one++) variables++;
    if (variables != 5) must_fail("an inherited environment", 0);
    for (int fd = 3; fd < 1024; fd++) must_fail("an inherited descriptor", fcntl(fd, F_GETFD));
}

static void fork_many(void) {
    int made = 0;
    for (; made < 100; made++) {
        const pid_t pid = fork();
        if (pid < 0) break;
        if (pid == 0) pause();
    }
    printf("%d", made);
}

static int take(size_t megabytes) {
    for (size_t i = 0; i < megabytes; i += 8) {
        char *more = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED) return 0;
        memset(more, 1, 8 << 20);
    }
    return 1;
}

static void take_alone(void) {
    if (take(512)) must_fail("taking 512 MB", 0);
}

/* Six children take 40 MB each, and keep it until all have it or are dead. */
static void take_together(void) {
    int ends[2], holding = 0, dead = 0;
    char got;
    if (pipe2(ends, O_NONBLOCK)) return;
    for (int i = 0; i < 6; i++)
        if (fork() == 0) {
            if (take(40) && write(ends[1], "x", 1) == 1) pause();
            _exit(0);
        }
    while (holding + dead < 6) {
        holding += read(ends[0], &got, 1) == 1;
        dead += waitpid(-1, NULL, WNOHANG) > 0;
        usleep(500);
    }
    if (holding == 6) must_fail("taking 240 MB together", 0);
}

static void loop(void) {
    for (;;) {}
}

static void leave_daemon(void) {
    if (fork() == 0) {
        setsid();
        if (fork()) _exit(0);
        loop();
    }
    wait(NULL);
}

static void flood(void) {
    static char text[1 << 16];
    while (write(1, text, sizeof text) > 0) {}
}

int main(int count, char **words) {
    const char *attack = count == 2 ? words[1] : "";
    const struct {
        const char *name;
        void (*run)(void);
    } attacks[] = {{"write", try_writing},  {"network", try_network},       {"read", try_reading},
                   {"others", try_others},  {"notes", try_notes},           {"namespaces", try_namespaces},
                   {"doors", try_doors},    {"inherit", try_inheriting},    {"forks", fork_many},
                   {"memory", take_alone},  {"memories", take_together},    {"daemon", leave_daemon},
                   {"flood", flood},        {"loop", loop},                 {"host", try_host},
                   {"numbers", try_numbers},        {"alone", try_not_being_alone},
                   {"restarted", restarted},        {"signals", try_signalling},
                   {"modes", try_modes},    {"pairs", try_pairs}};
    signal(SIGTERM, SIG_IGN);
    for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++)
        if (!strcmp(attack, attacks[i].name)) {
            attacks[i].run();
            return broken;
        }
    return 2;
}
