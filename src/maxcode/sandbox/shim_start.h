/* What a new process does to itself before it becomes the program under test; part of shim.c.
 *
 * Order matters: descriptors first, then the limits (one of them is on descriptors), the system call filter last.
 */
static bool send_note(const struct job *job, const struct note *note, int listener) {
    char rights[CMSG_SPACE(sizeof listener)] __attribute__((aligned(8))) = {0};
    struct iovec part = {(void *)note, sizeof *note};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (listener >= 0) {
        message.msg_control = rights;
        message.msg_controllen = sizeof rights;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_len = CMSG_LEN(sizeof listener);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(header), &listener, sizeof listener);
    }
    return sendmsg(job->notes, &message, MSG_NOSIGNAL) == sizeof *note;
}

static void give_up(const struct job *job, const char *what) {
    struct note note = {0};
    snprintf(note.trouble, sizeof note.trouble, "%s: %s", what, strerror(errno));
    _exit(send_note(job, &note, -1) ? 126 : 125);
}

static void note_start(const struct job *job, int listener) {
    const struct note note = {.used_us = cpu_us_of(0)};
    if (!send_note(job, &note, listener)) give_up(job, "note");
}

/* Never more than we were given ourselves, which would need a right that nobody here has. */
static void limit(const struct job *job, int what, uint64_t value) {
    struct rlimit own;
    if (getrlimit(what, &own)) give_up(job, "getrlimit");
    if (value > own.rlim_max) value = own.rlim_max;
    if (setrlimit(what, &(struct rlimit){value, value})) give_up(job, "setrlimit");
}

static void set_limits(const struct job *job) {
    limit(job, RLIMIT_AS, job->ask.memory);
    limit(job, RLIMIT_STACK, job->ask.stack);
    limit(job, RLIMIT_FSIZE, job->ask.output);
    limit(job, RLIMIT_NPROC, job->ask.processes + 1 + alone.tasks); /* and this shim, which has the same uid */
    limit(job, RLIMIT_NOFILE, MOST_OPEN);
    limit(job, RLIMIT_CPU, RLIM_INFINITY); /* kept from outside: it would tell how long the original took */
    limit(job, RLIMIT_CORE, 0);
    limit(job, RLIMIT_MEMLOCK, 0);
    limit(job, RLIMIT_MSGQUEUE, 0);
    if (!alone.on) limit(job, RLIMIT_SIGPENDING, MOST_SIGNALS); /* of all sessions together there are a few times more */
}

/* On the core where it happens to be, for good: the filter refuses to change it, and OpenMP then starts one thread. */
static void stay_on_one_core(const struct job *job) {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET((size_t)sched_getcpu(), &here);
    if (sched_setaffinity(0, sizeof here, &here)) give_up(job, "sched_setaffinity");
}

/* What is called gets no input and no output of its own: those are the shim's, which are copied for it. */
static void place_fds(const struct job *job, const struct calls *calls) {
    const uint32_t flags = job->ask.flags;
    const int input = calls ? open("/dev/null", O_RDONLY) : job->input;
    bool ok = dup2(input, 0) == 0 && dup2(calls ? job->err : job->out, 1) == 1 && dup2(job->err, 2) == 2;
    if (calls) ok = ok && place_calls(calls);
    if (flags & HAS_ARTEFACT) ok = ok && dup2(job->artefact, ARTEFACT) == ARTEFACT;
    if (flags & START_ARTEFACT) ok = ok && !fcntl(ARTEFACT, F_SETFD, FD_CLOEXEC);
    const unsigned first = calls ? DONE + 1 : flags & HAS_ARTEFACT ? ARTEFACT + 1 : ARTEFACT;
    if (!ok || syscall(SYS_close_range, first, ~0u, 1u << 2 /* CLOEXEC */)) give_up(job, "descriptors");
}

/* Where the program may make sockets, the note goes out under a number above the limit on descriptors, the only one that
 * the filter lets send a message: whatever the program has, it cannot pass descriptors. */
static void hide_notes(struct job *job) {
    if (dup3(job->notes, NOTES, O_CLOEXEC) < 0) give_up(job, "descriptor of the note");
    close(job->notes);
    job->notes = NOTES;
}

/* The size of the environment moves the stack and with it the speed: every run draws it anew. */
static void fill_padding(char *padding, size_t size) {
    uint16_t drawn = 0;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) drawn = 0;
    memset(padding, 'x', size);
    memcpy(padding, "PADDING=", 8);
    padding[8 + drawn % (size - 8)] = 0;
}

/* What the C library and fill.c are told, in the variables at `at`.  Besides filling memory the library lays it out in
 * another way: no small block comes back as it was left, and where large ones lie is drawn. */
static void fill_memory(const struct job *job, char words[3][256], char **at) {
    const unsigned byte = (job->ask.flags & FILL) >> 16;
    uint16_t drawn = 0;
    if (!job->library) return;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) drawn = 0;
    snprintf(words[0], sizeof words[0],
             "GLIBC_TUNABLES=glibc.malloc.perturb=%u:glibc.malloc.tcache_count=0:glibc.malloc.mmap_threshold=%u:"
             "glibc.malloc.top_pad=%u",
             byte ^ 0xff, drawn & 1 ? 16384 : 33554432, drawn / 2 % 256 * 4096);
    snprintf(words[1], sizeof words[1], "LD_PRELOAD=%s", job->library);
    snprintf(words[2], sizeof words[2], "FILL=%u", byte);
    for (int i = 0; i < 3; i++) at[i] = words[i];
}

/* The problem's own, behind those that every program has; their names differ from all of these. */
static void add_variables(const struct job *job, char **environment) {
    while (*environment) environment++;
    for (uint32_t i = 0; i < job->ask.variables; i++) environment[i] = job->variables[i];
}

static enum mode mode_of(const struct job *job) {
    const uint32_t flags = job->ask.flags;
    const enum mode hosted = flags & INTERPRETED ? SCRIPTS : RUNS;
    const enum mode plain = flags & BUILDING ? BUILDS : flags & CALLED ? CALLS : flags & IS_BARE ? BARE : hosted;
    if (flags & ONE_PROCESS) return plain | SINGLE;
    if (flags & REPOSITORY) return plain | TALKS | (flags & COUNTED ? HEARS : 0);
    return flags & ON_DEVICE ? plain | DEVICE : flags & PAIRS ? plain | PAIRED : plain;
}

static void become(struct job *job, const struct calls *calls) {
    const enum mode mode = mode_of(job);
    int listener;
    char padding[4096];
    fill_padding(padding, sizeof padding);
    char words[3][256], *environment[10 + MOST_VARIABLES] = {"PATH=/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "LC_ALL=C", padding};
    uint32_t secret[2];
    signal(SIGPIPE, SIG_DFL); /* which the shim ignores */
    place_fds(job, calls);
    if (mode & (PAIRED | TALKS)) hide_notes(job);
    setsid();
    set_limits(job);
    if (job->ask.flags & ONE_CORE) stay_on_one_core(job);
    const char *trouble = alone.on ? confine(job->ask.flags, secret) : NULL;
    if (trouble) give_up(job, trouble);
    if (alone.folder) live_in_folder(environment);
    fill_memory(job, words, environment + (environment[5] ? 6 : 5));
    add_variables(job, environment);
    listener = -1;
    const bool once = alone.confined && !(mode & BUILDS), filtered = !alone.on || alone.confined;
    if (filtered && !install_filter(&filters[mode], mode, &listener)) give_up(job, "seccomp");
    note_start(job, listener);
    if (once && job->ask.flags & START_ARTEFACT)
        start_once(ARTEFACT, "", job->strings, environment, secret);
    else if (once)
        start_named_once(job->strings, environment, secret);
    else if (job->ask.flags & START_ARTEFACT)
        syscall(SYS_execveat, ARTEFACT, "", job->strings, environment, AT_EMPTY_PATH);
    else if (calls) /* whose filter knows only this way to start */
        syscall(SYS_execveat, AT_FDCWD, job->strings[0], job->strings, environment, 0);
    else
        execvpe(job->strings[0], job->strings, environment);
    dprintf(2, "cannot start %s: %s\n", job->strings[0], strerror(errno));
    _exit(127);
}
