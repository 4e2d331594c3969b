/* What takes the place of namespaces where there are none (tier 2); part of shim.c.
 *
 *   shim alone FD LEVEL FOLDER START PATH...
 *                                         LEVEL 2: as below; 0: limits alone.  FOLDER: the private folder of a build,
 *                                         with s (its sources) and t (to write) in it, else empty: then programs begin
 *                                         in START.  PATHs may be read and executed.
 *
 * The shim is then no process 1 but a subreaper: orphans become its children all the same, and it never signals anybody
 * else.  What is measured is one process, whose threads Landlock, a filter of its own and the limits hold: it cannot
 * fork, so that nothing of it can be left; its one exec is ours, told by words that only the shim knows.  A build may
 * fork; what it leaves is a child of the shim sooner or later.
 *
 * Landlock knows no chmod, no stat and (before ABI 6) no signals: what of these can do harm is refused by the filter.
 */
#include <dirent.h>
#include <ftw.h>
#include <linux/capability.h>

#define LANDLOCK_CREATE 444
#define LANDLOCK_ADD 445
#define LANDLOCK_RESTRICT 446
#define MOST_FOLDER_BYTES (1ull << 30) /* TMP_MB of layout.py */
#define MOST_FOLDER_FILES 100000
#define LOOK_US 100000 /* how often a build's folder is measured */
#define SPARE_TASKS 256 /* what others of the same user may start meanwhile */
#define DEDICATED_UID 64001

enum rights {
    EXECUTE = 1 << 0, WRITE_FILE = 1 << 1, READ_FILE = 1 << 2, READ_FOLDER = 1 << 3, TRUNCATE = 1 << 14,
    IOCTL_DEVICE = 1 << 15, OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE,
};

static struct {
    bool on, confined, overfull;
    bool shares_uid; /* with processes and files that are no business of ours */
    int abi;
    uint64_t tasks; /* that this user may have beside a job's own: RLIMIT_NPROC counts them all */
    const char *folder;
    char **shown;
} alone;

/* ------------------------------------------------------------------------------------------ ending what was started */

/* The status of a process as the file system tells it; its parent, or 0. */
static pid_t parent_of(const char *pid) {
    char path[300], line[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    const char *after = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (after) sscanf(after + 1, " %*c %d", &parent);
    fclose(file);
    return parent;
}

/* Kills every child.  Only the shim reaps them, so no number can belong to anybody else by now. */
static void kill_children(void) {
    siginfo_t none;
    if (waitid(P_ALL, 0, &none, WEXITED | WNOHANG | WNOWAIT | __WALL)) return; /* there is no child */
    DIR *processes = opendir("/proc");
    if (!processes) die("/proc");
    for (struct dirent *one; (one = readdir(processes));)
        if (one->d_name[0] >= '1' && one->d_name[0] <= '9' && parent_of(one->d_name) == getpid())
            kill(atoi(one->d_name), SIGKILL);
    closedir(processes);
}

/* Kills all that can be reached: as process 1 the whole namespace, else the children, whose own children, now orphans,
 * are ours once they have been reaped. */
static void kill_rest(void) {
    if (alone.on)
        kill_children();
    else
        kill(-1, SIGKILL);
}

/* The end of the shim, when nobody listens any more. */
static void leave(void) {
    if (alone.on)
        for (kill_rest(); waitpid(-1, NULL, __WALL) > 0;) kill_rest();
    _exit(0);
}

/* ------------------------------------------------------------------------------------------- notes to the next run */

/* The next process number, which is then used up. */
static pid_t take_number(void) {
    const pid_t pid = vfork();
    if (pid == 0) _exit(0);
    if (pid < 0 || waitpid(pid, NULL, 0) != pid) die("vfork");
    return pid;
}

/* How many processes and threads it started: the counter of process numbers is one thing a run cannot help leaving
 * behind, and a program that moves it far may be writing a message with it. */
static uint32_t spawned_after(pid_t pid) {
    const pid_t next = take_number();
    return next > pid ? (uint32_t)(next - pid - 1) : UINT32_MAX;
}

/* Without a namespace the counter is the machine's: a program can move it far, and the next run read its own number.  So
 * after each run it is moved on by up to as much again, drawn at random. */
static void blur_numbers(uint32_t moved) {
    uint32_t drawn = 0;
    const uint32_t most = moved < 16 ? 16 : moved > 1 << 15 ? 1 << 15 : moved;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) die("getrandom");
    for (drawn %= most; drawn > 0; drawn--) take_number();
}

/* What a run did to the counter: how far it moved it, 0 where that is not known and it has been blurred. */
static uint32_t note_numbers(pid_t pid) {
    const uint32_t moved = spawned_after(pid);
    if (alone.on) blur_numbers(moved);
    return alone.on ? 0 : moved;
}

/* Reads the libraries that a compiled program can: what is in memory already, and was read just now, tells nothing. */
static void warm(const char *path) {
    static char page[1 << 16];
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &about) && S_ISREG(about.st_mode))
        while (read(fd, page, sizeof page) > 0) {}
    if (fd >= 0) close(fd);
}

/* ---------------------------------------------------------------------------------------------- the private folder */

static uint64_t folder_bytes, folder_files;

static int add_size(const char *path, const struct stat *about, int kind, struct FTW *where) {
    (void)path, (void)kind, (void)where;
    folder_bytes += (uint64_t)about->st_blocks * 512;
    return ++folder_files > MOST_FOLDER_FILES;
}

/* Whether a build has written more than it may.  A file that is open but has no name is not seen; RLIMIT_FSIZE bounds
 * each. */
static bool is_overfull(void) {
    folder_bytes = folder_files = 0;
    if (!alone.folder) return false;
    alone.overfull = nftw("../t", add_size, 16, FTW_PHYS | FTW_MOUNT) > 0 || folder_bytes > MOST_FOLDER_BYTES;
    return alone.overfull;
}

/* ------------------------------------------------------------------------------------------------------- Landlock */

static uint64_t known_rights(void) {
    return alone.abi >= 5 ? 0xffff : alone.abi >= 3 ? 0x7fff : alone.abi >= 2 ? 0x3fff : 0x1fff;
}

/* A path that is not there, or that we may not reach ourselves, needs no rule. */
static bool allow(int rules, const char *path, uint64_t rights) {
    struct stat about;
    const int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) return true;
    bool ok = !fstat(fd, &about);
    rights &= known_rights() & (S_ISDIR(about.st_mode) ? ~0ull : OF_FILES);
    const struct {
        uint64_t allowed;
        int32_t parent;
    } __attribute__((packed)) rule = {rights, fd};
    ok = ok && !syscall(LANDLOCK_ADD, rules, 1, &rule, 0);
    close(fd);
    return ok;
}

/* Of the kernel's own files: the process's, and what libraries and honest programs ask about the machine.  A compiled
 * program is as well off without them, and has them in no tier. */
static bool allow_system(int rules, bool bare) {
    const char *told[] = {"/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm/overcommit_memory",
                          "/dev/zero"};
    const char *random[] = {"/dev/random", "/dev/urandom"}, *devices[] = {"/dev/null", "/dev/full"};
    bool ok = true;
    for (size_t i = 0; !bare && i < sizeof told / sizeof told[0]; i++)
        ok = ok && allow(rules, told[i], READ_FILE | READ_FOLDER);
    for (size_t i = 0; i < 2; i++) ok = ok && allow(rules, random[i], READ_FILE);
    for (size_t i = 0; i < 2; i++)
        ok = ok && allow(rules, devices[i], READ_FILE | WRITE_FILE | TRUNCATE);
    return ok;
}

/* Everything the kernel can refuse is refused: files, connections, and signals and sockets beyond this process. */
static bool lock_in(bool bare) {
    const struct {
        uint64_t files, network, scoped;
    } handled = {known_rights(), 3, 3};
    const size_t size = alone.abi >= 6 ? 24 : alone.abi >= 4 ? 16 : 8;
    const int rules = (int)syscall(LANDLOCK_CREATE, &handled, size, 0);
    if (rules < 0) return false;
    bool ok = allow_system(rules, bare);
    for (char **path = alone.shown; *path; path++) ok = ok && allow(rules, *path, EXECUTE | READ_FILE | READ_FOLDER);
    if (alone.folder)
        ok = ok && allow(rules, "..", EXECUTE | READ_FILE | READ_FOLDER) && allow(rules, "../t", known_rights());
    ok = ok && !syscall(LANDLOCK_RESTRICT, rules, 0);
    close(rules);
    return ok;
}

/* ---------------------------------------------------------------------------------------------- a filter of its own */

/* Where a call is refused: in programs of one process; in builds that no scope holds; in builds whose user owns other
 * files; where Landlock knows no truncation; in all. */
enum place { ONE = 1, UNSCOPED = 2, OWNER = 4, OLD = 8, ALWAYS = 16 };
enum unless { ANYHOW, IF_IS, IF_LACKS, IF_SHIMS, UNLESS_SELF, UNLESS_NULL };

static const struct bar {
    int call, places;
    enum unless unless;
    int argument;
    uint32_t value;
} bars[] = {
    {SYS_clone, ONE, IF_LACKS, 0, 0x10000 /* CLONE_THREAD */}, {SYS_execve, ONE},
    {SYS_kill, ONE, UNLESS_SELF}, {SYS_tkill, ONE, UNLESS_SELF}, {SYS_tgkill, ONE, UNLESS_SELF},
    {SYS_rt_sigqueueinfo, ONE, UNLESS_SELF}, {SYS_rt_tgsigqueueinfo, ONE, UNLESS_SELF},
    {SYS_kill, UNSCOPED}, {SYS_tkill, UNSCOPED}, {SYS_tgkill, UNSCOPED}, {SYS_rt_sigqueueinfo, UNSCOPED},
    {SYS_rt_tgsigqueueinfo, UNSCOPED}, {SYS_pidfd_send_signal, ONE | UNSCOPED}, {SYS_pidfd_open, ONE | UNSCOPED},
    /* signals that the kernel sends: when a descriptor is ready; when the parent, the shim, ends */
    {SYS_fcntl, ONE | UNSCOPED, IF_IS, 1, F_SETOWN}, {SYS_fcntl, ONE | UNSCOPED, IF_IS, 1, F_SETOWN_EX},
    {SYS_ioctl, ONE | UNSCOPED, IF_IS, 1, 0x8901 /* FIOSETOWN */},
    {SYS_ioctl, ONE | UNSCOPED, IF_IS, 1, 0x8902 /* SIOCSPGRP */}, {SYS_prctl, ONE, IF_IS, 0, PR_SET_PDEATHSIG},
    /* the shim's processor time, which tells what earlier runs gave it to do */
    {SYS_clock_gettime, ONE, IF_SHIMS, 0}, {SYS_clock_getres, ONE, IF_SHIMS, 0},
    {SYS_clock_nanosleep, ONE, IF_SHIMS, 0}, {SYS_timer_create, ONE, IF_SHIMS, 0},
    /* files that it cannot open */
    {SYS_inotify_init1, ALWAYS}, {SYS_truncate, ONE | OLD}, {SYS_fchmodat, OWNER}, {452 /* fchmodat2 */, OWNER},
    {SYS_fchownat, OWNER}, {SYS_utimensat, OWNER, UNLESS_NULL, 1},
#if defined(__x86_64__)
    {SYS_fork, ONE}, {SYS_vfork, ONE}, {SYS_inotify_init, ALWAYS}, {SYS_chmod, OWNER}, {SYS_chown, OWNER},
    {SYS_lchown, OWNER}, {SYS_utime, OWNER}, {SYS_utimes, OWNER}, {SYS_futimesat, OWNER},
#endif
};

struct fence {
    struct sock_filter code[32 + 8 * sizeof bars / sizeof bars[0]];
    unsigned short length;
};

static void put(struct fence *out, unsigned short code, uint32_t value, uint8_t if_true, uint8_t if_false) {
    out->code[out->length++] = (struct sock_filter){code, if_true, if_false, value};
}

static void put_load(struct fence *out, int argument, bool high) {
    const size_t at = offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)argument;
    put(out, BPF_LD | BPF_W | BPF_ABS, (uint32_t)(at + (high ? 4 : 0)), 0, 0); /* both processors are little-endian */
}

static void put_answer(struct fence *out, uint32_t answer) { put(out, BPF_RET | BPF_K, answer, 0, 0); }

/* The test of one call: skipped unless it is that call, else it answers. */
static void put_bar(struct fence *out, const struct bar *bar) {
    const unsigned short equal = BPF_JMP | BPF_JEQ | BPF_K, bits = BPF_JMP | BPF_JSET | BPF_K;
    const uint32_t refused = SECCOMP_RET_ERRNO | EPERM;
    static const uint8_t lengths[] = {[ANYHOW] = 1, [IF_IS] = 4, [IF_LACKS] = 4, [IF_SHIMS] = 5, [UNLESS_SELF] = 5,
                                      [UNLESS_NULL] = 6};
    put(out, equal, (uint32_t)bar->call, 0, lengths[bar->unless]);
    if (bar->unless != ANYHOW) put_load(out, bar->argument, false);
    if (bar->unless == IF_IS) put(out, equal, bar->value, 0, 1);
    if (bar->unless == IF_LACKS) put(out, bits, bar->value, 1, 0);
    if (bar->unless == IF_SHIMS) {
        put(out, BPF_ALU | BPF_AND | BPF_K, ~7u, 0, 0); /* which of its clocks */
        put(out, equal, ~(uint32_t)getppid() << 3, 0, 1);
    }
    if (bar->unless == UNLESS_SELF) {
        put(out, equal, 0, 2, 0); /* its group, in which it is alone */
        put(out, equal, (uint32_t)getpid(), 1, 0);
    }
    if (bar->unless == UNLESS_NULL) {
        put(out, equal, 0, 0, 2);
        put_load(out, bar->argument, true);
        put(out, equal, 0, 1, 0);
    }
    put_answer(out, refused);
    if (bar->unless != ANYHOW) put(out, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
}

/* execveat is refused but to who knows both words, in halves of arguments that the kernel does not look at. */
static void put_last_exec(struct fence *out, const uint32_t words[2]) {
    const unsigned short equal = BPF_JMP | BPF_JEQ | BPF_K;
    put(out, equal, SYS_execveat, 0, 6);
    put_load(out, 0, true);
    put(out, equal, words[0], 0, 3);
    put_load(out, 4, true);
    put(out, equal, words[1], 0, 1);
    put_answer(out, SECCOMP_RET_ALLOW);
    put_answer(out, SECCOMP_RET_ERRNO | EPERM);
}

static bool fence_in(bool building, const uint32_t words[2]) {
    struct fence fence = {.length = 0};
    const int here = ALWAYS | (building ? 0 : ONE) | (building && alone.abi < 6 ? UNSCOPED : 0) |
                     (alone.shares_uid ? OWNER : 0) | (alone.abi < 3 ? OLD : 0);
    put(&fence, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++)
        if (bars[i].places & here) put_bar(&fence, &bars[i]);
    if (!building) put_last_exec(&fence, words);
    put_answer(&fence, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {fence.length, fence.code};
    return !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}

/* -------------------------------------------------------------------------------------------------- the new process */

static bool drop_capabilities(void) {
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    const struct __user_cap_data_struct none[2] = {{0}, {0}};
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return !syscall(SYS_capset, &head, none);
}

/* Confines a new process before it becomes the program: NULL, or what could not be done.  It ends with the shim. */
static const char *confine(uint32_t flags, uint32_t words[2]) {
    const pid_t shim = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != shim || shim == 1) return "the shim is gone";
    if (!alone.confined) return NULL;
    if (getrandom(words, 2 * sizeof words[0], 0) != 2 * sizeof words[0]) return "getrandom";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || !drop_capabilities()) return "privileges";
    if (!lock_in(flags & IS_BARE)) return "landlock";
    return fence_in(flags & BUILDING, words) ? NULL : "filter";
}

/* Names of the private folder that say nothing of the host; what a compiler notes down is the same in every build. */
static void live_in_folder(char **environment) {
    environment[1] = "HOME=../t";
    environment[2] = "TMPDIR=../t";
    environment[5] = "PWD=/proc/self/cwd";
}

/* The one exec of a program of one process; the words go in the halves of two integers that the kernel leaves alone. */
static void start_once(int fd, const char *path, char **words, char **environment, const uint32_t secret[2]) {
    const uint64_t where = (uint32_t)fd | (uint64_t)secret[0] << 32;
    const uint64_t flags = (*path ? 0 : AT_EMPTY_PATH) | (uint64_t)secret[1] << 32;
    syscall(SYS_execveat, where, path, words, environment, flags);
}

/* The same for a command's name, which is looked for as execvp would; errno is of the last attempt. */
static void start_named_once(char **words, char **environment, const uint32_t secret[2]) {
    const char *folders[] = {"/usr/bin/", "/bin/"};
    char path[4096];
    if (strchr(words[0], '/')) return start_once(AT_FDCWD, words[0], words, environment, secret);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s%s", folders[i], words[0]);
        start_once(AT_FDCWD, path, words, environment, secret);
    }
}

/* -------------------------------------------------------------------------------------------------- before all jobs */

/* The threads of a process that RLIMIT_NPROC may count against us: our user's, and root's, whose a process seems to be
 * that hides its memory.  A folder of /proc has a link for each folder in it, and two of its own. */
static uint64_t tasks_of(const char *pid) {
    char path[300];
    struct stat process, tasks;
    snprintf(path, sizeof path, "/proc/%s", pid);
    if (stat(path, &process) || (process.st_uid != getuid() && process.st_uid != 0)) return 0;
    snprintf(path, sizeof path, "/proc/%s/task", pid);
    return stat(path, &tasks) || tasks.st_nlink <= 2 ? 1 : tasks.st_nlink - 2;
}

static uint64_t count_tasks(void) {
    uint64_t count = 0;
    DIR *processes = opendir("/proc");
    if (!processes) die("/proc");
    for (struct dirent *one; (one = readdir(processes));)
        if (one->d_name[0] >= '1' && one->d_name[0] <= '9') count += tasks_of(one->d_name);
    closedir(processes);
    return count;
}

static void begin_alone(char **words) {
    alone.on = true;
    alone.confined = atoi(words[0]) != 0;
    alone.folder = *words[1] ? words[1] : NULL;
    alone.shown = words + 3;
    alone.shares_uid = getuid() != DEDICATED_UID;
    alone.abi = (int)syscall(LANDLOCK_CREATE, NULL, 0, 1);
    alone.tasks = count_tasks() + SPARE_TASKS;
    if (alone.confined && alone.abi < 1) die("landlock");
    for (char **path = alone.shown; *path; path++) warm(*path);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) die("subreaper");
    if (chdir(alone.folder ? alone.folder : words[2]) || (alone.folder && chdir("s"))) die("folder");
}

/* Prints the version of Landlock's interface that can be used here: 0 and why when none. */
static int show_landlock(void) {
    const long abi = syscall(LANDLOCK_CREATE, NULL, 0, 1);
    printf("%ld %s\n", abi < 0 ? 0 : abi, abi < 0 ? strerrorname_np(errno) : "-");
    return 0;
}
