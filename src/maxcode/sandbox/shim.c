/* The trusted half of the sandbox: starts programs nobody trusts, holds the clock, and cleans up after them.
 *
 *   shim launch UID [FILE | FOLDER:TARGET]... -- COMMAND...
 *                                             outside: joins the control groups (cgroup.procs FILEs), shows folders at
 *                                             other places, becomes UID, turns into COMMAND (bubblewrap)
 *   shim session FD                           inside, as process 1 of its own namespace: runs the jobs that arrive on
 *                                             the packet socket FD, one at a time, and answers each with one packet
 *
 * Being process 1 is what makes it trusted: no program in the namespace can signal it, nothing outlives it, every
 * orphan becomes its child, so that hidden work is found, charged and killed.  The socket closes on exec, no program
 * ever sees it, and when its other end is gone the whole namespace goes (without namespaces: shim_landlock.h).
 * jobs.py is the other end; the two structs below are its formats.
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
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PACKET 65536
#define MOST_FDS 16
#define MOST_OPEN 256 /* descriptors of a program */
#define NOTES MOST_OPEN /* the number under which the shim's note goes out */
#define MOST_STRINGS 640
#define MOST_VARIABLES 64
#define FIRST_FREE 64 /* our own descriptors live from here up, the program's below */
#define MOST_SIGNALS 1024 /* that wait, and timers: a program that took all of the user's would be seen by others */
#define MOST_BURNT 64 /* process numbers that a session skips at its start; divides 256 */
#define LONGEST_US (1ull << 50) /* years: no sum of two times may wrap around */
#define ARTEFACT 3    /* its number in every program, so that all sides of a race look alike */

#include "shim_filter.h"

enum flags {
    BUILDING = 1, PROFILE = 2, HAS_STDIN = 4, HAS_ARTEFACT = 8,
    START_ARTEFACT = 16, CALLED = 32, ONE_CORE = 64, IS_BARE = 128, /* a compiled program, in a session without /proc */
    STEPPED = 256, PREPARED = 512, ON_DEVICE = 1024, /* it may use a GPU */
    INTERPRETED = 2048, STARTED = 4096, PAIRS = 8192,
    ONE_PROCESS = 16384, /* it may start threads, and no processes */
    REPOSITORY = 32768, /* a command of a repository */
    FILL = 0xff0000, /* what memory holds that the program has not written; 0: what the kernel gives */
    COUNTED = 1 << 24, /* maxcode adds what the control group counts beyond `known_us` */
};
enum ending { EXITED, SIGNALLED, TIMED_OUT, FLOODED, UNSTARTED, TAMPERED, ANSWERED };

struct request { /* then the arguments, the paths to collect, with FILL that of fill.c's library, and the variables of its
                  * environment as NAME=VALUE, each ending in NUL; comes with stdin, artefact */
    uint32_t flags, arguments, collected, variables, processes, spare;
    uint64_t cpu_us, wall_us, memory, stack, output;
};

struct reply { /* comes with stdout, stderr, samples, then the files of `found`, lowest bit first */
    uint32_t ending;
    int32_t code;
    uint64_t user_us, system_us, wall_us, peak_kb, waits, preemptions;
    uint32_t left_over, spawned, found, samples;
    uint64_t called_cpu_ns, called_wall_ns, ready_cpu_ns;
    uint64_t known_us; /* processor time of all that was waited for, and of the shim since it got the job */
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
    char **collected, **variables;
    const char *library; /* to be preloaded, or NULL */
    int input, artefact, out, err;
    int notes;    /* a socket for the new process's note, with which comes: */
    int listener; /* where to hear of the calls that the shim answers; -1 where there are none */
    uint64_t prepared_us; /* what the new process had used, which is not the program's to pay */
};

static int control;
static struct program filters[2 * HEARS]; /* by mode */

static void die(const char *what) {
    fprintf(stderr, "maxcode shim: %s: %s\n", what, strerror(errno));
    _exit(1);
}

static uint64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
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
    const uint64_t wall = now_us() - start, used = cpu_us_of(pid);
    const uint64_t cpu = used > job->prepared_us ? used - job->prepared_us : 0;
    if (wall >= job->ask.wall_us || cpu >= job->ask.cpu_us) return 0;
    const uint64_t soonest = (job->ask.cpu_us - cpu) / (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) + 1000;
    return soonest < job->ask.wall_us - wall ? soonest : job->ask.wall_us - wall;
}

#include "shim_landlock.h"
#include "shim_told.h"
static int seen(int fd);
static int fresh_file(const char *name);
static bool is_full(int fd, uint64_t size);
static void answer(const struct reply *reply, const int *fds, int count);

#include "shim_calls.h"
#include "shim_sampler.h"
#include "shim_start.h"

/* ------------------------------------------------------------------------------------------------- watching it */

/* Waits until the program ends (true) or its time is over (false), reaping nothing. */
static bool watch(struct job *job, pid_t pid, uint64_t start, struct sampler *sampler) {
    struct pollfd awaited[] = {{(int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0}, {control, POLLRDHUP, 0}, {0}};
    if (awaited[0].fd < 0) die("pidfd_open");
    for (;;) {
        uint64_t us = patience_us(job, pid, start);
        if (us == 0) break;
        if (sampler && us > sampler->pause_us) us = sampler->pause_us;
        if (alone.folder && us > LOOK_US) us = LOOK_US;
        awaited[2] = (struct pollfd){job->listener, POLLIN, 0};
        poll_for(awaited, 3, us);
        if (awaited[1].revents) leave(); /* whoever asked is gone: so is everything here */
        if (awaited[0].revents || is_overfull()) break;
        job->listener = tell(job->listener, awaited[2].revents);
        if (sampler) take_samples(sampler, pid);
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

/* Waits for the note, and for the listener where one comes with it; the process may have died of its preparations. */
static bool hear_note(struct job *job, struct note *note) {
    char rights[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
    struct iovec part = {note, sizeof *note};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = rights, .msg_controllen = sizeof rights};
    const bool heard = recvmsg(job->notes, &message, MSG_CMSG_CLOEXEC) == sizeof *note;
    const struct cmsghdr *header = heard ? CMSG_FIRSTHDR(&message) : NULL;
    job->listener = -1;
    job->prepared_us = heard ? note->used_us : 0;
    if (header) memcpy(&job->listener, CMSG_DATA(header), sizeof job->listener);
    if (header) job->listener = lifted(job->listener);
    return heard;
}

/* Takes what it cost to prepare the process off its bill; by far the most is system time. */
static void settle(const struct note *note, struct reply *reply) {
    memcpy(reply->trouble, note->trouble, sizeof reply->trouble);
    const uint64_t system = note->used_us < reply->system_us ? note->used_us : reply->system_us;
    const uint64_t user = note->used_us - system < reply->user_us ? note->used_us - system : reply->user_us;
    reply->system_us -= system;
    reply->user_us -= user;
}

static void judge(const struct job *job, int status, bool in_time, struct reply *reply) {
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const uint64_t earlier_us = job->ask.flags & STEPPED ? job->prepared_us : 0; /* rounds, each with its own limit */
    reply->code = signal ? signal : WEXITSTATUS(status);
    if (reply->trouble[0])
        reply->ending = UNSTARTED;
    else if (signal == SIGXCPU || reply->user_us + reply->system_us > job->ask.cpu_us + earlier_us)
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
    struct calls calls = {0};
    struct note note = {0};
    bool answered = true;
    const bool called = job->ask.flags & CALLED;
    told_ns = 0;
    if (called) prepare_calls(&calls, job);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) die("socketpair");
    job->notes = lifted(ends[0]);
    ends[1] = lifted(ends[1]);
    uint64_t start = now_us(); /* before fork: its return can come late on a busy machine */
    const pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
        job->notes = ends[1];
        become(job, called ? &calls : NULL);
    }
    close(ends[1]);
    const bool noted = hear_note(job, &note);
    if (sampler) start_sampling(sampler, job->notes);
    if (called) answered = play(&calls, job, pid, start);
    if (called) close_calls(&calls), kill(pid, SIGCONT); /* which the driver takes for the end */
    if (job->ask.flags & STEPPED) start = now_us();
    const bool in_time = !calls.tampered && watch(job, pid, start, sampler);
    if (!in_time) kill_rest();
    if (sampler) bury(sampler, pid);
    const int status = reap(pid, reply);
    reply->system_us += told_ns / 1000;
    reply->wall_us = now_us() - start;
    if (called) reply->called_cpu_ns = calls.cpu_ns, reply->called_wall_ns = calls.wall_ns;
    if (called) reply->ready_cpu_ns = calls.ready_ns;
    clear_namespace(reply);
    reply->spawned = note_numbers(pid);
    reply->known_us = reply->user_us + reply->system_us - told_ns / 1000;
    if (noted) settle(&note, reply);
    judge(job, status, in_time, reply);
    if (calls.tampered) reply->ending = TAMPERED;
    if (!answered && reply->ending == EXITED && reply->code == 0) reply->code = 1; /* it left before its last call */
    close(job->notes);
    if (job->listener >= 0) close(job->listener);
}

/* ---------------------------------------------------------------------------------------------- jobs and answers */

#include "shim_packets.h"

static void serve(struct job *job) {
    static struct sampler sampler;
    const uint64_t begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
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
    reply.known_us += (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun) / 1000;
    answer(&reply, fds, count);
}

static void default_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    for (int i = 1; i < NSIG; i++) signal(i, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* How far its number is from that of the shim, its parent, tells a program how many runs a session has had: they begin
 * anywhere in a range that is wider than their number. */
static void begin_anywhere(void) {
    uint8_t drawn = 0;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) die("getrandom");
    for (drawn %= MOST_BURNT; drawn > 0; drawn--) take_number();
}

static int session(int fd) {
    static struct job job;
    if (!alone.on && getpid() != 1) die("not process 1 of a namespace");
    control = lifted(fd);
    if (syscall(SYS_close_range, 3, FIRST_FREE - 1, 0)) die("close_range");
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    default_signals();
    signal(SIGPIPE, SIG_IGN); /* a program may close the pipe that the shim speaks into; as process 1 it would not die */
    prepare_told();
    for (int mode = BUILDS; mode <= SCRIPTS; mode *= 2)
        make_filter(&filters[mode], (enum mode)mode), make_filter(&filters[mode | DEVICE], (enum mode)(mode | DEVICE));
    make_filter(&filters[BUILDS | PAIRED], BUILDS | PAIRED);
    make_filter(&filters[SCRIPTS | PAIRED], SCRIPTS | PAIRED);
    make_filter(&filters[BUILDS | SINGLE], BUILDS | SINGLE);
    make_filter(&filters[BUILDS | TALKS], BUILDS | TALKS);
    make_filter(&filters[RUNS | TALKS], RUNS | TALKS);
    make_filter(&filters[RUNS | TALKS | HEARS], RUNS | TALKS | HEARS);
    begin_anywhere();
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

/* FOLDER:TARGET: shows a folder elsewhere, to us and to what we start alone: whom we become may not be able to walk to it. */
static void show(char *words) {
    static bool apart;
    char *target = strrchr(words, ':');
    *target++ = 0;
    if (!apart && (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))) die("a mount namespace");
    apart = true;
    if (mount(words, target, NULL, MS_BIND | MS_REC, NULL)) die(words);
}

static int launch(char **words) {
    const uid_t uid = (uid_t)strtoul(*words++, NULL, 10);
    default_signals();
    /* When memory runs out anywhere, these go first. */
    write_file("/proc/self/oom_score_adj", "1000");
    for (; *words && strcmp(*words, "--"); words++)
        if (strchr(*words, ':'))
            show(*words);
        else
            write_file(*words, "0");
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
    if (count > 5 && !strcmp(words[1], "alone")) return begin_alone(words + 3), session(atoi(words[2]));
    if (count == 2 && !strcmp(words[1], "landlock")) return show_landlock();
    fputs("usage: shim launch UID [FILE | FOLDER:TARGET]... -- COMMAND... | shim session FD\n", stderr);
    return 2;
}
