/* Calls of a function under the shim's clock; part of shim.c.
 *
 * The program maps an exchange memory and waits.  For every round the shim puts fresh inputs there, poisons the outputs,
 * says go, and waits for done; the clock is the processor time of the whole process, or the wall clock, read here.  What
 * the program uses between two rounds is charged too.  It never sees the inputs of a later round, and the outputs are
 * copied out before it is spoken to again.
 *
 * Standard input: a struct plan, `arrays` struct array, what the program is told (below), then for each round and slot
 * the arrays that are read, in order.  A slot is one call; a round has `slots` of them at most, so that short calls are
 * timed together.  In the exchange each array begins `offset` bytes behind the start of a page, and what lies between
 * arrays, a page at least, must not change.
 *
 * Where it is not STEPPED: what the program is told is a count and so many numbers.  They come into the last page of the
 * exchange once the program is ready, with the word 's', and in front of them, with every 'g', how many calls the round
 * has: a random number, drawn for this run alone.  The outputs of a round are looked at when it is over, so a program
 * that puts work off to a later call is found out.  Processor time up to the first 'g' is told apart (ready_cpu_ns).
 *
 * STEPPED: the inputs of a round come when the asker sends them, one packet (struct turn) with one descriptor each; every
 * round is answered, the first time when the program is ready.  Between rounds it is stopped, so that two programs in
 * two sessions take turns.  Each round has limits of its own on time.
 *
 * HELD arrays, where it is STEPPED: the program writes down the address of an array that it keeps, 8 bytes in the
 * exchange, and the shim reads the array from the program's memory while it stands still, so that no copy is timed.
 * Each call of such a round is a part of its own, with the word 'n' for the first and 'g' for the others: the inputs of
 * a call come when the arrays of the one before have been read, and none of these may change until the round is over.
 * Then the inputs of one call are overwritten: an array that changes with them is the same memory, which is told (code).
 *
 * GATHERED arrays are HELD ones in parts whose number and sizes the program chooses in every call: it writes a table into
 * the exchange, a count and so many pairs of address and size, and the count, the sizes and the bytes come out.
 * AFTERWARDS is the same, asked for by a further word, 'a', whose time does not count but is told: what a program says of
 * its inputs once its results were read.
 *
 * STARTED: a program that is STEPPED says done once it is about to begin, and begins at the word 's'.  The time from there
 * until it is ready comes with the first answer.
 *
 * PREPARED: a round has two parts, each with a word and an answer, the program stopped between them.  'p' takes the
 * inputs to where they are wanted (a GPU), 'g' is what is timed, to the last byte of the outputs in the exchange.  How
 * long 'p' took is told, because a program could work there.
 */
enum { EXCHANGE = 4, GO = 5, DONE = 6, GUARD = 4096, MOST_ARRAYS = 16, MOST_SLOTS = 65536, MOST_TOLD = 500, MOST_PARTS = 255 };
#define MOST_BYTES (1ull << 40) /* more than any machine has; sums of a few stay far from overflow */

enum array_kind { READ_ONLY, WRITTEN, READ_AND_WRITTEN, HELD, GATHERED, AFTERWARDS };
#define TABLE_BYTES ((1 + 2 * MOST_PARTS) * sizeof(uint64_t))

struct plan {
    uint32_t arrays, slots, rounds, offset;
};

struct array {
    uint64_t bytes, kind;
};

struct turn { /* with the inputs of a round, where it is STEPPED */
    uint64_t cpu_us, wall_us;
};

struct calls {
    struct plan plan;
    struct array arrays[MOST_ARRAYS];
    unsigned char *exchange;
    uint64_t size;  /* of the exchange */
    uint32_t slots; /* of this round, up to here */
    uint32_t from;  /* the first of those that are visited */
    bool holds;     /* some arrays are HELD or GATHERED */
    bool is_after;  /* those that come AFTERWARDS are visited, not the others */
    bool has_after; /* some arrays come AFTERWARDS */
    pid_t pid;
    uint64_t told[MOST_TOLD], told_count;
    int memory, go, done, their_go, their_done;
    uint64_t cpu_ns, wall_ns; /* all calls so far */
    uint64_t last_cpu_ns;     /* the process's clock when it was last looked at */
    uint64_t ready_ns;        /* of its processor time, up to the first 'g' */
    uint64_t prepared_ns;     /* wall time of the last 'p', or processor time of all 'a' of the last round */
    uint32_t shared;          /* a bit for each array that is the same memory as an input, in the last round */
    bool tampered;            /* it wrote where it must not, spoke out of turn, or would not stand still */
};

static uint64_t paged(uint64_t bytes) { return (bytes + GUARD - 1) / GUARD * GUARD; }

static void read_whole(int fd, void *to, uint64_t size) {
    for (uint64_t at = 0; at < size;) {
        const ssize_t got = read(fd, (char *)to + at, size - at);
        if (got <= 0) die("the calls' inputs");
        at += (uint64_t)got;
    }
}

static void write_whole(int fd, const void *from, uint64_t size) {
    for (uint64_t at = 0; at < size;) {
        const ssize_t put = write(fd, (const char *)from + at, size - at);
        if (put <= 0) die("the calls' outputs");
        at += (uint64_t)put;
    }
}

/* Its bytes in the exchange. */
static uint64_t size_of(const struct array *array) {
    if (array->kind == GATHERED || array->kind == AFTERWARDS) return TABLE_BYTES;
    return array->kind == HELD ? sizeof(uint64_t) : array->bytes;
}

static uint64_t room_of(const struct calls *calls, const struct array *array) {
    return paged(calls->plan.offset + size_of(array)) + GUARD;
}

static void add_room(struct calls *calls, const struct array *array) {
    if (array->bytes > MOST_BYTES || calls->size > MOST_BYTES) die("malformed plan");
    calls->size += room_of(calls, array);
}

static void read_told(struct calls *calls, int fd) {
    read_whole(fd, &calls->told_count, sizeof calls->told_count);
    if (calls->told_count > MOST_TOLD) die("malformed plan");
    read_whole(fd, calls->told, calls->told_count * sizeof calls->told[0]);
    calls->size += GUARD;
}

/* Reads the plan, makes the exchange (of a size nobody can change) and two pipes. */
static void prepare_calls(struct calls *calls, const struct job *job) {
    int go[2], done[2];
    *calls = (struct calls){.size = GUARD};
    read_whole(job->input, &calls->plan, sizeof calls->plan);
    if (calls->plan.arrays > MOST_ARRAYS || calls->plan.slots > MOST_SLOTS || calls->plan.offset >= GUARD)
        die("malformed plan");
    read_whole(job->input, calls->arrays, calls->plan.arrays * sizeof calls->arrays[0]);
    for (uint32_t i = 0; i < calls->plan.arrays * calls->plan.slots; i++)
        add_room(calls, &calls->arrays[i % calls->plan.arrays]);
    for (uint32_t i = 0; i < calls->plan.arrays; i++) {
        calls->holds |= calls->arrays[i].kind == HELD || calls->arrays[i].kind == GATHERED;
        calls->has_after |= calls->arrays[i].kind == AFTERWARDS;
    }
    if ((calls->holds || calls->has_after) && (job->ask.flags & (STEPPED | PREPARED)) != STEPPED) die("malformed plan");
    calls->slots = calls->plan.slots;
    if (!(job->ask.flags & STEPPED)) read_told(calls, job->input);
    const int memory = memfd_create("exchange", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0 || ftruncate(memory, (off_t)calls->size)) die("exchange");
    if (fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) die("seal");
    calls->memory = lifted(memory);
    calls->exchange = mmap(NULL, calls->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, calls->memory, 0);
    if (calls->exchange == MAP_FAILED || pipe2(go, O_CLOEXEC) || pipe2(done, O_CLOEXEC)) die("calls");
    calls->their_go = lifted(go[0]), calls->go = lifted(go[1]);
    calls->done = lifted(done[0]), calls->their_done = lifted(done[1]);
    fcntl(calls->go, F_SETFL, O_NONBLOCK), fcntl(calls->done, F_SETFL, O_NONBLOCK); /* nobody makes us wait */
    memset(calls->exchange, 0xa5, calls->size);
}

static void close_calls(struct calls *calls) {
    munmap(calls->exchange, calls->size);
    close(calls->memory), close(calls->go), close(calls->done);
}

/* In the new process: its ends of it all, at the numbers that the driver knows. */
static bool place_calls(const struct calls *calls) {
    return dup2(calls->memory, EXCHANGE) == EXCHANGE && dup2(calls->their_go, GO) == GO &&
           dup2(calls->their_done, DONE) == DONE;
}

#include "shim_arrays.h"

/* Waits for the program's word; false when it ended, or its time is over. */
static bool hear_done(struct calls *calls, struct job *job, pid_t pid, uint64_t start) {
    struct pollfd awaited[] = {{calls->done, POLLIN, 0}, {control, POLLRDHUP, 0}, {0}};
    char word;
    for (uint64_t us; (us = patience_us(job, pid, start)) > 0;) {
        awaited[2] = (struct pollfd){job->listener, POLLIN, 0};
        poll_for(awaited, 3, us);
        if (awaited[1].revents) leave();
        job->listener = tell(job->listener, awaited[2].revents);
        if (awaited[0].revents) return read(calls->done, &word, 1) == 1;
    }
    return false;
}

/* Whether it went on by itself after it stood still (a timer may send SIGCONT). */
static bool went_on(pid_t pid) {
    siginfo_t told = {0};
    return !waitid(P_PID, (id_t)pid, &told, WCONTINUED | WNOHANG) && told.si_pid;
}

/* Stops every thread of the program and waits until none is on a processor: only then is its clock exact (the kernel
 * brings the clock of a running thread up to date at its ticks), are its outputs final and its memory ours.  False when
 * it does not stop, or stops and goes on by itself.  The signal is sent again at every look, because a SIGCONT takes one
 * away that has not been heeded yet. */
static bool halt(struct calls *calls, pid_t pid) {
    went_on(pid); /* because it was told to */
    for (int look = 0; look < 20000; look++) { /* some 1.5 s: on a busy machine it waits for its turn to stop */
        siginfo_t told = {0};
        if (kill(pid, SIGSTOP)) return false;
        if (waitid(P_PID, (id_t)pid, &told, WEXITED | WNOHANG | WNOWAIT) || told.si_pid) return true; /* dead is still */
        if (!waitid(P_PID, (id_t)pid, &told, WSTOPPED | WNOHANG) && told.si_pid) return true;
        if (went_on(pid)) return !(calls->tampered = true);
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    return false;
}

/* Whether it has said that it is done without being asked: such a word would end the next part before it is done. */
static bool is_hasty(const struct calls *calls) {
    struct pollfd said = {calls->done, POLLIN, 0};
    return poll(&said, 1, 0) > 0 && said.revents & POLLIN;
}

/* One part of a round: says the word, waits for the answer and stops the program; adds to the times.  False when the
 * program ended, was too slow or would not stand still. */
static bool play_part(struct calls *calls, struct job *job, pid_t pid, uint64_t start, char word, uint64_t ns[2]) {
    clockid_t clock;
    if (clock_getcpuclockid(pid, &clock)) return false;
    const uint64_t began = clock_ns(CLOCK_MONOTONIC);
    if (write(calls->go, &word, 1) != 1 || kill(pid, SIGCONT) || !hear_done(calls, job, pid, start)) return false;
    if (!halt(calls, pid)) return false;
    const uint64_t ended = clock_ns(CLOCK_MONOTONIC); /* once it stands still: it may have said so before it was done */
    const uint64_t used = clock_ns(clock) + told_ns;
    if (used < calls->last_cpu_ns) return false; /* it has just died */
    ns[0] += used - calls->last_cpu_ns;
    ns[1] += ended - began;
    calls->last_cpu_ns = used;
    return true;
}

#include "shim_held.h"

/* One round; false when it was the last: the program ended, was too slow or tampered. */
static bool play_round(struct calls *calls, struct job *job, pid_t pid, uint64_t start) {
    if (calls->holds) return play_each(calls, job, pid, start);
    const bool prepared = job->ask.flags & PREPARED;
    const off_t inputs = lseek(job->input, 0, SEEK_CUR);
    uint64_t before[2] = {0}, timed[2] = {0};
    visit(calls, fill, job->input);
    if (went_on(pid) || is_hasty(calls)) return !(calls->tampered = true);
    if (prepared && !play_part(calls, job, pid, start, 'p', before)) return false;
    if (prepared && (went_on(pid) || is_hasty(calls))) return !(calls->tampered = true);
    if (!play_part(calls, job, pid, start, 'g', timed)) return false;
    calls->prepared_ns = before[1];
    calls->cpu_ns += timed[0];
    calls->wall_ns += timed[1];
    visit(calls, copy_out, job->out);
    lseek(job->input, inputs, SEEK_SET);
    calls->tampered = went_on(pid) || !visit(calls, is_unread, job->input) || !visit(calls, is_whole, -1);
    return !calls->tampered;
}

/* The inputs of the next round, whose limits become the job's; -1 when there is none. */
static int next_inputs(struct job *job) {
    struct turn turn;
    char rights[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
    struct iovec part = {&turn, sizeof turn};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = rights, .msg_controllen = sizeof rights};
    const ssize_t size = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    int fd;
    if (size <= 0) _exit(0);
    if (!header) return -1;
    if (header->cmsg_len != CMSG_LEN(sizeof fd) || size != sizeof turn) die("malformed round");
    if (turn.cpu_us > LONGEST_US || turn.wall_us > LONGEST_US) die("malformed round");
    memcpy(&fd, CMSG_DATA(header), sizeof fd);
    job->ask.cpu_us = turn.cpu_us, job->ask.wall_us = turn.wall_us;
    return seen(fd);
}

/* What the last round, or getting ready, came to; the program goes on living. */
static void answer_round(struct job *job, const struct calls *calls) {
    struct reply reply = {.ending = ANSWERED, .code = (int32_t)calls->shared, .wall_us = calls->prepared_ns / 1000};
    reply.called_cpu_ns = calls->cpu_ns, reply.called_wall_ns = calls->wall_ns;
    answer(&reply, (int[]){job->out, lifted(dup(job->err)), fresh_file("samples")}, 3);
    job->out = fresh_file("stdout");
}

/* Rounds as they are asked for; true when the program answered each. */
static bool play_steps(struct calls *calls, struct job *job, pid_t pid) {
    answer_round(job, calls);
    for (int fd; (fd = next_inputs(job)) >= 0;) {
        close(job->input);
        job->input = fd;
        job->prepared_us = calls->last_cpu_ns / 1000;
        calls->cpu_ns = calls->wall_ns = 0;
        if (!play_round(calls, job, pid, now_us())) return false;
        answer_round(job, calls);
    }
    return true;
}

/* Tells the program what it has to know, which it may use up to the first 'g'. */
static bool tell_sizes(struct calls *calls, struct job *job, pid_t pid, uint64_t start) {
    uint64_t before[2] = {0}, *page = (uint64_t *)(calls->exchange + calls->size - GUARD);
    memset(page, 0, GUARD);
    memcpy(page + 1, calls->told, calls->told_count * sizeof calls->told[0]);
    if (went_on(pid) || is_hasty(calls)) return !(calls->tampered = true);
    return !calls->told_count || play_part(calls, job, pid, start, 's', before);
}

/* How many calls each round has: random numbers, as many of them and as many calls in all in every run of a plan. */
static uint32_t *lengths(const struct plan *plan, uint32_t *rounds) {
    uint64_t calls = (uint64_t)plan->rounds * plan->slots;
    *rounds = plan->slots > 1 ? plan->rounds + (plan->rounds + 3) / 4 : plan->rounds;
    uint32_t *found = calloc(*rounds + 1, sizeof *found);
    if (!found) die("rounds");
    for (uint32_t i = 0, left = *rounds; i < *rounds; i++, left--) {
        const uint64_t others = (uint64_t)(left - 1) * plan->slots;
        const uint64_t least = calls > others ? calls - others : 1, most = calls - (left - 1);
        found[i] = drawn((uint32_t)(least > 1 ? least : 1), (uint32_t)(most < plan->slots ? most : plan->slots));
        calls -= found[i];
    }
    for (uint32_t i = *rounds; i > 1; i--) { /* the last ones are longer */
        const uint32_t other = drawn(0, i - 1), kept = found[other];
        found[other] = found[i - 1], found[i - 1] = kept;
    }
    return found;
}

/* All rounds of a plan; true when the program answered each. */
static bool play_rounds(struct calls *calls, struct job *job, pid_t pid, uint64_t start) {
    volatile uint64_t *page = (uint64_t *)(calls->exchange + calls->size - GUARD);
    uint32_t rounds, *slots = lengths(&calls->plan, &rounds);
    bool answered = true;
    for (uint32_t i = 0; answered && i < rounds; i++) {
        page[0] = calls->slots = slots[i];
        answered = play_round(calls, job, pid, start);
    }
    free(slots);
    return answered;
}

/* Lets it begin, and keeps what that takes for the first answer; false where it ends there. */
static bool begin(struct calls *calls, struct job *job, pid_t pid, uint64_t start) {
    uint64_t begun[2] = {0};
    if (went_on(pid) || is_hasty(calls)) return !(calls->tampered = true);
    if (!play_part(calls, job, pid, start, 's', begun)) return false;
    calls->cpu_ns = begun[0], calls->wall_ns = begun[1];
    return true;
}

/* All rounds; true when the program is still there at the end, having answered each. */
static bool play(struct calls *calls, struct job *job, pid_t pid, uint64_t start) {
    clockid_t clock;
    calls->pid = pid;
    close(calls->their_go), close(calls->their_done);
    if (!hear_done(calls, job, pid, start) || clock_getcpuclockid(pid, &clock)) return false; /* it is ready */
    if (!halt(calls, pid)) return false;
    if (calls->holds) look_whether_it_can_be_read(calls);
    calls->last_cpu_ns = clock_ns(clock) + told_ns;
    if (job->ask.flags & STARTED && !begin(calls, job, pid, start)) return false;
    if (job->ask.flags & STEPPED) return play_steps(calls, job, pid);
    if (!tell_sizes(calls, job, pid, start)) return false;
    const uint64_t ours = job->prepared_us * 1000;
    calls->ready_ns = calls->last_cpu_ns > ours ? calls->last_cpu_ns - ours : 0;
    return play_rounds(calls, job, pid, start);
}
