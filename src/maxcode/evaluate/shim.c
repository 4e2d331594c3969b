/* The trusted half of the sandbox: starts programs nobody trusts, holds the clock, and cleans up after them.
 *
 *   shim launch UID [FILE...] -- COMMAND...   outside: joins the control groups (cgroup.procs FILEs), becomes UID,
 *                                             turns into COMMAND (bubblewrap)
 *   shim session FD                           inside, as process 1 of its own namespace: runs the jobs that arrive on
 *                                             the packet socket FD, one at a time, and answers each with one packet
 *
 * Being process 1 is what makes it trusted: no program in the namespace can signal it, nothing outlives it, every
 * orphan becomes its child, so that hidden work is found, charged and killed.  The socket closes on exec, no program
 * ever sees it, and when its other end is gone the whole namespace goes.  jobs.py is the other end; the two structs
 * below are its formats.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shim_filter.h"

#define PACKET 65536
#define MOST_FDS 16
#define MOST_STRINGS 512
#define FIRST_FREE 64 /* our own descriptors live from here up, the program's below */
#define ARTEFACT 3    /* its number in every program, so that all sides of a race look alike */

enum flags { BUILDING = 1, PROFILE = 2, HAS_STDIN = 4, HAS_ARTEFACT = 8, START_ARTEFACT = 16, CALLED = 32, ONE_CORE = 64 };
enum ending { EXITED, SIGNALLED, TIMED_OUT, FLOODED, UNSTARTED, TAMPERED };

struct request { /* then the arguments and the paths to collect, each ending in NUL; comes with stdin, artefact */
    uint32_t flags, arguments, collected, processes;
    uint64_t cpu_us, wall_us, memory, stack, output;
};

struct reply { /* comes with stdout, stderr, samples, then the files of `found`, lowest bit first */
    uint32_t ending;
    int32_t code;
    uint64_t user_us, system_us, wall_us, peak_kb, waits, preemptions;
    uint32_t left_over, spawned, found, samples;
    uint64_t called_cpu_ns, called_wall_ns;
    char trouble[64];
};

struct note { /* from a new process, before it becomes the program */
    uint64_t used_us; /* what it has used so far, which is ours to pay */
    char trouble[64]; /* why it cannot; else empty */
};

struct job {
    struct request ask;
    char packet[PACKET];
    char *strings[MOST_STRINGS + 1]; /* the arguments, NULL */
    char **collected;
    int input, artefact, out, err;
    int notes; /* a pipe for the new process's note */
};

static int control;
static struct program run_filter, build_filter, call_filter;

static void die(const char *what) {
    fprintf(stderr, "maxcode shim: %s: %s\n", what, strerror(errno));
    _exit(1);
}

static uint64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t cpu_us_of(pid_t pid) {
    clockid_t clock;
    struct timespec t = {0};
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t)) return 0;
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static struct timespec timespec_of(uint64_t us) {
    return (struct timespec){.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
}

static void poll_for(struct pollfd *awaited, nfds_t count, uint64_t us) {
    const struct timespec patience = timespec_of(us);
    ppoll(awaited, count, &patience, NULL);
}

static int lifted(int fd) {
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE);
    if (high < 0) die("fcntl");
    close(fd);
    return high;
}

/* Until when nothing can be overdue: the rest of the wall clock, or of the CPU time were all cores at it. */
static uint64_t patience_us(const struct job *job, pid_t pid, uint64_t start) {
    const uint64_t wall = now_us() - start, cpu = cpu_us_of(pid);
    if (wall >= job->ask.wall_us || cpu >= job->ask.cpu_us) return 0;
    const uint64_t soonest = (job->ask.cpu_us - cpu) / (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) + 1000;
    return soonest < job->ask.wall_us - wall ? soonest : job->ask.wall_us - wall;
}

#include "shim_landlock.h"
#include "shim_calls.h"
#include "shim_sampler.h"
#include "shim_start.h"

/* ------------------------------------------------------------------------------------------------- watching it */

/* Waits until the program ends (true) or its time is over (false), reaping nothing. */
static bool watch(const struct job *job, pid_t pid, uint64_t start, struct sampler *sampler) {
    struct pollfd awaited[] = {{(int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0}, {control, POLLRDHUP, 0}};
    if (awaited[0].fd < 0) die("pidfd_open");
    for (;;) {
        uint64_t us = patience_us(job, pid, start);
        if (us == 0) break;
        if (sampler && us > sampler->every_us) us = sampler->every_us;
        if (alone.folder && us > LOOK_US) us = LOOK_US;
        poll_for(awaited, 2, us);
        if (awaited[1].revents) leave(); /* whoever asked is gone: so is everything here */
        if (awaited[0].revents || is_overfull()) break;
        if (sampler) take_sample(sampler, pid, start + job->ask.wall_us);
    }
    close(awaited[0].fd);
    return awaited[0].revents != 0;
}

static uint64_t us_of(struct timeval t) { return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec; }

static void charge(struct reply *reply, const struct rusage *used) {
    reply->user_us += us_of(used->ru_utime);
    reply->system_us += us_of(used->ru_stime);
    reply->waits += (uint64_t)used->ru_nvcsw;
    reply->preemptions += (uint64_t)used->ru_nivcsw;
    if (reply->peak_kb < (uint64_t)used->ru_maxrss) reply->peak_kb = (uint64_t)used->ru_maxrss;
}

static int reap(pid_t pid, struct reply *reply) {
    int status;
    struct rusage used;
    do { /* a traced program may still have stops to tell of */
        if (wait4(pid, &status, __WALL, &used) < 0) die("wait4");
    } while (!WIFEXITED(status) && !WIFSIGNALED(status));
    charge(reply, &used);
    return status;
}

/* Kills and charges all that the program left behind; it can have hidden work there. */
static void clear_namespace(struct reply *reply) {
    int status;
    struct rusage used;
    kill_rest();
    while (wait4(-1, &status, __WALL, &used) > 0) {
        charge(reply, &used);
        reply->left_over += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        if (alone.on) kill_rest(); /* its children have become ours */
    }
}

static bool is_full(int fd, uint64_t size) {
    struct stat about;
    return !fstat(fd, &about) && (uint64_t)about.st_size >= size;
}

/* Reads the note, and takes what it cost to prepare the process off its bill; by far the most is system time. */
static void settle(const struct job *job, struct reply *reply) {
    struct note note;
    if (read(job->notes, &note, sizeof note) != sizeof note) return;
    memcpy(reply->trouble, note.trouble, sizeof reply->trouble);
    const uint64_t system = note.used_us < reply->system_us ? note.used_us : reply->system_us;
    const uint64_t user = note.used_us - system < reply->user_us ? note.used_us - system : reply->user_us;
    reply->system_us -= system;
    reply->user_us -= user;
}

static void judge(const struct job *job, int status, bool in_time, struct reply *reply) {
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    reply->code = signal ? signal : WEXITSTATUS(status);
    if (reply->trouble[0])
        reply->ending = UNSTARTED;
    else if (signal == SIGXCPU || reply->user_us + reply->system_us > job->ask.cpu_us)
        reply->ending = TIMED_OUT;
    else if (alone.overfull)
        reply->ending = FLOODED;
    else if (!in_time)
        reply->ending = TIMED_OUT;
    else if (signal == SIGXFSZ || is_full(job->out, job->ask.output) || is_full(job->err, job->ask.output))
        reply->ending = FLOODED;
    else
        reply->ending = signal ? SIGNALLED : EXITED;
}

static void run(struct job *job, struct reply *reply, struct sampler *sampler) {
    int ends[2];
    struct calls calls;
    bool answered = true, tampered = false;
    const bool called = job->ask.flags & CALLED;
    if (called) prepare_calls(&calls, job);
    if (pipe2(ends, O_CLOEXEC)) die("pipe2");
    job->notes = lifted(ends[0]);
    ends[1] = lifted(ends[1]);
    const uint64_t start = now_us(); /* before fork: its return can come late on a busy machine */
    const pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
        job->notes = ends[1];
        become(job, called ? &calls : NULL);
    }
    close(ends[1]);
    if (sampler) start_sampling(sampler, pid, job->notes);
    if (called) answered = play(&calls, job, pid, start, &tampered);
    if (called) close_calls(&calls), kill(pid, SIGCONT); /* which the driver takes for the end */
    const bool in_time = !tampered && watch(job, pid, start, sampler);
    if (!in_time) kill_rest();
    const int status = reap(pid, reply);
    reply->wall_us = now_us() - start;
    if (called) reply->called_cpu_ns = calls.cpu_ns, reply->called_wall_ns = calls.wall_ns;
    clear_namespace(reply);
    reply->spawned = note_numbers(pid);
    settle(job, reply);
    judge(job, status, in_time, reply);
    if (tampered) reply->ending = TAMPERED;
    if (!answered && reply->ending == EXITED && reply->code == 0) reply->code = 1; /* it left before its last call */
    close(job->notes);
}

/* ---------------------------------------------------------------------------------------------- jobs and answers */

/* A descriptor of our own for the same file, so that not even an offset is shared with another run; read only.  The
 * read sets the time of last access, which would else tell when an earlier run chose to read. */
static int reopened(int fd) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int fresh = open(path, O_RDONLY | O_CLOEXEC);
    char first;
    if (fresh < 0 || pread(fresh, &first, 1, 0) < 0) die("open blob");
    close(fd);
    return lifted(fresh);
}

static void unpack(struct job *job, ssize_t size) {
    char *at = job->packet, *end = job->packet + size;
    const uint32_t count = job->ask.arguments + job->ask.collected;
    if (count > MOST_STRINGS || job->ask.arguments == 0 || size == 0 || end[-1]) die("malformed job");
    for (uint32_t i = 0, slot = 0; i < count && at < end; i++, at += strlen(at) + 1) {
        if (i == job->ask.arguments) job->strings[slot++] = NULL;
        job->strings[slot++] = at;
    }
    job->strings[job->ask.arguments] = NULL;
    job->collected = job->strings + job->ask.arguments + 1;
}

static void take_fds(struct job *job, struct msghdr *message) {
    const struct cmsghdr *header = CMSG_FIRSTHDR(message);
    const bool fed = job->ask.flags & HAS_STDIN, given = job->ask.flags & HAS_ARTEFACT;
    int fds[2];
    const size_t size = ((size_t)fed + given) * sizeof fds[0];
    if ((header ? header->cmsg_len - CMSG_LEN(0) : 0) != size) die("malformed job");
    if (header) memcpy(fds, CMSG_DATA(header), size);
    job->input = fed ? reopened(fds[0]) : lifted(open("/dev/null", O_RDONLY | O_CLOEXEC));
    job->artefact = given ? reopened(fds[fed]) : -1;
}

static bool receive(struct job *job) {
    char rights[CMSG_SPACE(2 * sizeof(int))] __attribute__((aligned(8)));
    struct iovec parts[] = {{&job->ask, sizeof job->ask}, {job->packet, sizeof job->packet}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2, .msg_control = rights, .msg_controllen = sizeof rights};
    const ssize_t size = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    if (size <= 0) return false;
    if (size < (ssize_t)sizeof job->ask || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) die("malformed job");
    take_fds(job, &message);
    unpack(job, size - (ssize_t)sizeof job->ask);
    return true;
}

static int fresh_file(const char *name) {
    const int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0) die("memfd_create");
    return lifted(fd);
}

/* The file a build wrote, or -1: no link is followed on the way, and only a regular file is one. */
static int open_written(const char *path) {
    struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    struct stat about;
    const int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (fd >= 0 && (fstat(fd, &about) || !S_ISREG(about.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

static void answer(const struct reply *reply, const int *fds, int count) {
    char rights[CMSG_SPACE(MOST_FDS * sizeof(int))] __attribute__((aligned(8))) = {0};
    struct iovec part = {(void *)reply, sizeof *reply};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = rights};
    message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    memcpy(CMSG_DATA(header), fds, (size_t)count * sizeof(int));
    if (sendmsg(control, &message, MSG_NOSIGNAL) < 0) leave();
    for (int i = 0; i < count; i++) close(fds[i]);
}

static void serve(struct job *job) {
    static struct sampler sampler;
    struct reply reply = {0};
    const bool sampled = job->ask.flags & PROFILE;
    job->out = fresh_file("stdout");
    job->err = fresh_file("stderr");
    run(job, &reply, sampled ? &sampler : NULL);
    close(job->input);
    if (job->artefact >= 0) close(job->artefact);
    int fds[MOST_FDS] = {job->out, job->err, fresh_file("samples")}, count = 3;
    if (sampled) reply.samples = write_samples(&sampler, fds[2], &reply);
    for (uint32_t i = 0; i < job->ask.collected && count < MOST_FDS; i++) {
        const int fd = open_written(job->collected[i]);
        if (fd < 0) continue;
        reply.found |= 1u << i;
        fds[count++] = fd;
    }
    answer(&reply, fds, count);
}

static void default_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    for (int i = 1; i < NSIG; i++) signal(i, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int session(int fd) {
    static struct job job;
    if (!alone.on && getpid() != 1) die("not process 1 of a namespace");
    control = lifted(fd);
    if (syscall(SYS_close_range, 3, FIRST_FREE - 1, 0)) die("close_range");
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    default_signals();
    make_filter(&run_filter, RUNS);
    make_filter(&build_filter, BUILDS);
    make_filter(&call_filter, CALLS);
    if (send(control, "ready", 5, MSG_NOSIGNAL) != 5) die("send");
    while (receive(&job)) serve(&job);
    return 0;
}

/* --------------------------------------------------------------------------------------------------- outside */

static void write_file(const char *path, const char *text) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0) die(path);
    close(fd);
}

static int launch(char **words) {
    const uid_t uid = (uid_t)strtoul(*words++, NULL, 10);
    default_signals();
    /* When memory runs out anywhere, these go first. */
    write_file("/proc/self/oom_score_adj", "1000");
    for (; *words && strcmp(*words, "--"); words++) write_file(*words, "0");
    const bool drop = geteuid() == 0 && uid != 0;
    if (drop && (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))) die("setuid");
    if (!*words || !words[1]) die("no command");
    execv(words[1], words + 1);
    die(words[1]);
    return 1;
}

int main(int count, char **words) {
    if (count > 3 && !strcmp(words[1], "launch")) return launch(words + 2);
    if (count == 3 && !strcmp(words[1], "session")) return session(atoi(words[2]));
    if (count > 4 && !strcmp(words[1], "alone")) return begin_alone(words + 3), session(atoi(words[2]));
    if (count == 2 && !strcmp(words[1], "landlock")) return show_landlock();
    fputs("usage: shim launch UID [FILE...] -- COMMAND... | shim session FD\n", stderr);
    return 2;
}
