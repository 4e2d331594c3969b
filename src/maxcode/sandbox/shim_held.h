/* Arrays that a program holds in its own memory, read from there while it stands still; part of shim_calls.h.
 *
 * Nothing that the program does may come between its work and the clock, and a copy that it makes itself is such a thing:
 * one program makes it, another does not.
 */
/* The next bytes of an array that the program holds; where it holds none there, all of them are 0xff. */
static void read_held(const struct calls *calls, uint64_t address, unsigned char *to, uint64_t size) {
    for (uint64_t got = 0; got < size;) {
        const struct iovec ours = {to + got, size - got}, theirs = {(void *)(uintptr_t)(address + got), size - got};
        const ssize_t read = process_vm_readv(calls->pid, &ours, 1, &theirs, 1, 0);
        if (read < 0 && (errno == EPERM || errno == ENOSYS))
            die("this kernel lets nobody read a program's memory (try sysctl kernel.yama.ptrace_scope=1)");
        if (read <= 0) memset(to + got, 0xff, size - got);
        got += read > 0 ? (uint64_t)read : size - got;
    }
}

/* An array that the program holds, a part at a time, either written to `fd` or compared with what is there. */
static bool pass_held(const struct calls *calls, const struct array *array, const unsigned char *bytes, int fd, bool again) {
    static unsigned char held[1 << 18], before[1 << 18];
    uint64_t address;
    memcpy(&address, bytes, sizeof address);
    for (uint64_t at = 0, size; at < array->bytes; at += size) {
        size = array->bytes - at < sizeof held ? array->bytes - at : sizeof held;
        read_held(calls, address + at, held, size);
        if (again) read_whole(fd, before, size);
        if (again && memcmp(held, before, size)) return false;
        if (!again) write_whole(fd, held, size);
    }
    return true;
}

/* Whether an array still is what was read of it after its call, which is in `fd` from its offset on. */
static bool is_kept(const struct calls *calls, const struct array *array, unsigned char *bytes, int fd) {
    return array->kind != HELD || pass_held(calls, array, bytes, fd, true);
}

static bool clear_input(const struct calls *calls, const struct array *array, unsigned char *bytes, int fd) {
    (void)calls, (void)fd;
    if (array->kind == READ_ONLY) memset(bytes, 0xa5, array->bytes);
    return true;
}

/* Looks whether arrays that it holds changed with its inputs, in one call of the round that nobody can foresee: then they
 * are the same memory.  A bit for each array. */
static uint32_t look_for_shared(struct calls *calls, int out) {
    uint32_t found = 0;
    uint64_t each = 0;
    for (uint32_t i = 0; i < calls->plan.arrays; i++)
        each += calls->arrays[i].kind == HELD ? calls->arrays[i].bytes : 0;
    calls->from = drawn(0, calls->plan.slots - 1), calls->slots = calls->from + 1;
    lseek(out, (off_t)(each * calls->from), SEEK_SET);
    visit(calls, clear_input, -1);
    unsigned char *at = calls->exchange + GUARD;
    for (uint32_t i = 0; i < calls->plan.arrays * calls->slots; i++) {
        const struct array *array = &calls->arrays[i % calls->plan.arrays];
        const off_t before = lseek(out, 0, SEEK_CUR);
        if (i / calls->plan.arrays == calls->from && array->kind == HELD) {
            if (!is_kept(calls, array, at + calls->plan.offset, out)) found |= 1u << i % calls->plan.arrays;
            lseek(out, before + (off_t)array->bytes, SEEK_SET);
        }
        at += room_of(calls, array);
    }
    calls->from = 0, calls->slots = calls->plan.slots;
    return found;
}

/* The calls of a round, each a part of its own: see HELD. */
static bool play_each(struct calls *calls, struct job *job, pid_t pid, uint64_t start) {
    const off_t inputs = lseek(job->input, 0, SEEK_CUR);
    uint64_t timed[2] = {0};
    for (calls->from = 0; calls->from < calls->plan.slots; calls->from++) {
        calls->slots = calls->from + 1;
        visit(calls, fill, job->input);
        if (went_on(pid) || is_hasty(calls)) return !(calls->tampered = true);
        if (!play_part(calls, job, pid, start, calls->from ? 'g' : 'n', timed)) return false;
        visit(calls, copy_out, job->out);
    }
    calls->from = 0;
    calls->cpu_ns += timed[0];
    calls->wall_ns += timed[1];
    lseek(job->input, inputs, SEEK_SET), lseek(job->out, 0, SEEK_SET);
    const bool same = visit(calls, is_kept, job->out) && visit(calls, is_unread, job->input);
    calls->tampered = went_on(pid) || !same || !visit(calls, is_whole, -1);
    calls->shared = calls->tampered ? 0 : look_for_shared(calls, job->out);
    return !calls->tampered;
}
