/* Arrays that a program holds in its own memory, read from there while it stands still; part of shim_calls.h.
 *
 * Nothing that the program does may come between its work and the clock, and a copy that it makes itself is such a thing:
 * one program makes it, another does not.
 */
/* Ends where this kernel lets nobody read a program's memory.  Asked before it does anything of its own: later it may
 * have seen to it itself that nobody can. */
static void look_whether_it_can_be_read(const struct calls *calls) {
    char byte;
    const struct iovec ours = {&byte, 1}, theirs = {NULL, 1}; /* nothing is there, but who may read is looked at first */
    if (process_vm_readv(calls->pid, &ours, 1, &theirs, 1, 0) < 0 && (errno == EPERM || errno == ENOSYS))
        die("this kernel lets nobody read a program's memory (try sysctl kernel.yama.ptrace_scope=1)");
}

/* The next bytes of an array that the program holds; where it holds none there, or lets nobody read it, all of them are
 * 0xff. */
static void read_held(const struct calls *calls, uint64_t address, unsigned char *to, uint64_t size) {
    for (uint64_t got = 0; got < size;) {
        const struct iovec ours = {to + got, size - got}, theirs = {(void *)(uintptr_t)(address + got), size - got};
        const ssize_t read = process_vm_readv(calls->pid, &ours, 1, &theirs, 1, 0);
        if (read <= 0) memset(to + got, 0xff, size - got);
        got += read > 0 ? (uint64_t)read : size - got;
    }
}

/* So many bytes that the program holds, a part at a time, either written to `fd` or compared with what is there. */
static bool pass_part(const struct calls *calls, uint64_t address, uint64_t bytes, int fd, bool again) {
    static unsigned char held[1 << 18], before[1 << 18];
    for (uint64_t at = 0, size; at < bytes; at += size) {
        size = bytes - at < sizeof held ? bytes - at : sizeof held;
        read_held(calls, address + at, held, size);
        if (again) read_whole(fd, before, size);
        if (again && memcmp(held, before, size)) return false;
        if (!again) write_whole(fd, held, size);
    }
    return true;
}

static bool pass_held(const struct calls *calls, const struct array *array, const unsigned char *bytes, int fd, bool again) {
    uint64_t address;
    memcpy(&address, bytes, sizeof address);
    return pass_part(calls, address, array->bytes, fd, again);
}

/* A copy of a table of parts; an empty one where it makes no sense. */
static void read_table(const struct array *array, const unsigned char *bytes, uint64_t table[1 + 2 * MOST_PARTS]) {
    uint64_t total = 0;
    memcpy(table, bytes, TABLE_BYTES);
    for (uint64_t i = 0; table[0] <= MOST_PARTS && i < table[0]; i++) {
        const uint64_t size = table[2 + 2 * i];
        total = size > array->bytes || total + size > array->bytes ? UINT64_MAX / 2 : total + size;
    }
    if (table[0] > MOST_PARTS || total > array->bytes) table[0] = 0;
}

/* An array in parts: how many, the size of each, then the bytes of all. */
static bool pass_gathered(const struct calls *calls, const struct array *array, const unsigned char *bytes, int fd, bool again) {
    uint64_t table[1 + 2 * MOST_PARTS], sizes[1 + MOST_PARTS], before[1 + MOST_PARTS];
    read_table(array, bytes, table);
    const uint64_t head = (1 + table[0]) * sizeof sizes[0];
    sizes[0] = table[0];
    for (uint64_t i = 0; i < table[0]; i++) sizes[1 + i] = table[2 + 2 * i];
    if (again) read_whole(fd, before, head);
    if (again && memcmp(before, sizes, head)) return false;
    if (!again) write_whole(fd, sizes, head);
    for (uint64_t i = 0; i < table[0]; i++)
        if (!pass_part(calls, table[1 + 2 * i], table[2 + 2 * i], fd, again)) return false;
    return true;
}

/* Goes to the end of an array in what was written to `fd`, which stands at its beginning. */
static void pass_over(const struct array *array, int fd) {
    uint64_t count, size, total = 0;
    if (array->kind != GATHERED && array->kind != AFTERWARDS) {
        lseek(fd, array->kind == READ_ONLY ? 0 : (off_t)array->bytes, SEEK_CUR);
        return;
    }
    read_whole(fd, &count, sizeof count);
    for (uint64_t i = 0; i < count; i++) {
        read_whole(fd, &size, sizeof size);
        total += size;
    }
    lseek(fd, (off_t)total, SEEK_CUR);
}

/* Whether an array still is what was read of it after its call, which is in `fd` from its offset on. */
static bool is_kept(const struct calls *calls, const struct array *array, unsigned char *bytes, int fd) {
    if (array->kind == HELD) return pass_held(calls, array, bytes, fd, true);
    if (array->kind == GATHERED) return pass_gathered(calls, array, bytes, fd, true);
    pass_over(array, fd);
    return true;
}

static bool clear_input(const struct calls *calls, const struct array *array, unsigned char *bytes, int fd) {
    (void)calls, (void)fd;
    if (array->kind == READ_ONLY || array->kind == READ_AND_WRITTEN) memset(bytes, 0xa5, array->bytes);
    return true;
}

/* Looks whether arrays that it holds changed with its inputs, in one call of the round, whose arrays were written to
 * `out` from `place` on: then they are the same memory.  A bit for each array. */
static uint32_t look_for_shared(struct calls *calls, int out, uint32_t call, off_t place) {
    uint32_t found = 0;
    calls->from = call, calls->slots = call + 1;
    visit(calls, clear_input, -1);
    unsigned char *at = calls->exchange + GUARD;
    lseek(out, place, SEEK_SET);
    for (uint32_t i = 0; i < calls->plan.arrays * calls->slots; i++) {
        const struct array *array = &calls->arrays[i % calls->plan.arrays];
        if (i / calls->plan.arrays == call) {
            const off_t before = lseek(out, 0, SEEK_CUR);
            if (!is_kept(calls, array, at + calls->plan.offset, out)) found |= 1u << i % calls->plan.arrays;
            lseek(out, before, SEEK_SET);
            pass_over(array, out);
        }
        at += room_of(calls, array);
    }
    calls->from = 0, calls->slots = calls->plan.slots;
    return found;
}

/* What is looked at when the results of a call were read; its time is not that of the call. */
static bool play_after(struct calls *calls, struct job *job, pid_t pid, uint64_t start, uint64_t ns[2]) {
    if (!calls->has_after) return true;
    if (went_on(pid) || is_hasty(calls)) return !(calls->tampered = true);
    if (!play_part(calls, job, pid, start, 'a', ns)) return false;
    calls->is_after = true;
    visit(calls, copy_out, job->out);
    calls->is_after = false;
    return true;
}

/* The calls of a round, each a part of its own: see HELD.  Nobody can foresee in which of them shared memory is looked for. */
static bool play_each(struct calls *calls, struct job *job, pid_t pid, uint64_t start) {
    const off_t inputs = lseek(job->input, 0, SEEK_CUR);
    const uint32_t looked = drawn(0, calls->plan.slots - 1);
    off_t place = 0;
    uint64_t timed[2] = {0}, after[2] = {0};
    for (calls->from = 0; calls->from < calls->plan.slots; calls->from++) {
        if (is_full(job->out, job->ask.output)) return false; /* the same memory may be written out for each call */
        calls->slots = calls->from + 1;
        visit(calls, fill, job->input);
        if (went_on(pid) || is_hasty(calls)) return !(calls->tampered = true);
        if (!play_part(calls, job, pid, start, calls->from ? 'g' : 'n', timed)) return false;
        if (calls->from == looked) place = lseek(job->out, 0, SEEK_CUR);
        visit(calls, copy_out, job->out);
        if (!play_after(calls, job, pid, start, after)) return false;
    }
    calls->from = 0;
    calls->cpu_ns += timed[0];
    calls->wall_ns += timed[1];
    calls->prepared_ns = after[0];
    lseek(job->input, inputs, SEEK_SET), lseek(job->out, 0, SEEK_SET);
    const bool same = visit(calls, is_kept, job->out) && visit(calls, is_unread, job->input);
    calls->tampered = went_on(pid) || !same || !visit(calls, is_whole, -1);
    calls->shared = calls->tampered ? 0 : look_for_shared(calls, job->out, looked, place);
    return !calls->tampered;
}
