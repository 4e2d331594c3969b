/* A sampled profile of the program under test; part of shim.c.
 *
 * A few thousand times a second the shim stops each thread of its child that is running, notes where it is and which
 * calls of the program itself led there, and lets it go.  That slows the program: for diagnosis, never for timing.
 * On a busy machine the shim itself may wait, and looks seldom: so a sample has the time that the thread ran before it.
 * Addresses are those of the ELF file, as debuggers and addr2line use them.  A thread is traced while it is looked at,
 * and not between: else a signal would hold it until the next look.
 */
#define MOST_SAMPLES 8192
#define MOST_MAPPINGS 256
#define MOST_CALLERS 32
#define STACK_WORDS 1024
#define MOST_HELD 64
#define MOST_THREADS 4096 /* among which those to be held are drawn */
#define STOP_US 500 /* a thread that does not stop so soon waits for a core or in the kernel, and stops later */
#define LEAF_BYTES 65536 /* of a function without a frame, with those that it jumps to */
#define NAME 64

struct sample {
    uint32_t module, callers;
    uint64_t cpu_ns; /* how long the thread had run since it was noted before */
    uint64_t address, caller[MOST_CALLERS];
};

struct mapping {
    uint64_t start, end, base; /* `base` is what to take off an address to have that of the ELF file */
    uint32_t module;
};

struct sampler {
    pid_t held[MOST_HELD]; /* the threads that are traced, until they have stopped */
    uint32_t helds;
    bool is_go;
    uint64_t every_us, pause_us; /* the pause is longer where many threads run: they shall get on */
    uint64_t ran_ns[MOST_THREADS]; /* of each thread when it was noted, by its number */
    uint32_t samples, mappings, modules;
    const char *trouble;
    char name[MOST_MAPPINGS][NAME]; /* of modules, which keep their numbers; 0 is the program itself */
    struct mapping mapping[MOST_MAPPINGS];
    struct sample sample[MOST_SAMPLES];
};

/* Asks to be woken on time, and at once although the program is running on our core; where the kernel knows how. */
static void be_prompt(bool wanted) {
    const struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline, period;
    } share = {.size = 48, .runtime_ns = wanted ? 100000 : 0};
    prctl(PR_SET_TIMERSLACK, wanted ? 1 : 0, 0, 0, 0);
    syscall(SYS_sched_setattr, 0, &share, 0);
}

static void start_sampling(struct sampler *sampler, int notes) {
    struct pollfd started = {notes, 0, 0}; /* only its closing counts */
    sampler->samples = sampler->mappings = 0;
    sampler->modules = 1;
    sampler->trouble = access("/proc/self/task", F_OK) ? "it cannot be sampled without /proc" : "it ended too soon";
    sampler->every_us = sampler->pause_us = 200;
    sampler->helds = 0;
    sampler->is_go = false;
    memset(sampler->ran_ns, 0, sizeof sampler->ran_ns);
    be_prompt(true);
    poll_for(&started, 1, 1000000); /* its other end closes on exec; before that the child cannot be traced */
}

/* Reads what of the program's memory can be read; the number of bytes. */
static size_t peek(pid_t pid, uint64_t from, void *into, size_t size) {
    struct iovec ours = {into, size}, theirs = {(void *)(uintptr_t)from, size};
    const ssize_t got = process_vm_readv(pid, &ours, 1, &theirs, 1, 0);
    return got > 0 ? (size_t)got : 0;
}

static uint32_t module_named(struct sampler *sampler, const char *path) {
    const char *slash = strrchr(path, '/');
    char name[NAME];
    snprintf(name, sizeof name, "%.63s", slash ? slash + 1 : path);
    for (uint32_t i = 1; i < sampler->modules; i++)
        if (!strcmp(sampler->name[i], name)) return i;
    memcpy(sampler->name[sampler->modules], name, sizeof name);
    return sampler->modules++;
}

/* Programs linked to a fixed address are not moved; all else is, by where its first page lies. */
static uint64_t base_of(pid_t pid, uint64_t first_page) {
    Elf64_Ehdr header = {0};
    peek(pid, first_page, &header, sizeof header);
    return header.e_type == ET_EXEC ? 0 : first_page;
}

static void add_mapping(struct sampler *sampler, struct mapping mapping, const char *path, const char *program) {
    if (sampler->mappings == MOST_MAPPINGS || sampler->modules == MOST_MAPPINGS) return;
    mapping.module = strcmp(path, program) ? module_named(sampler, path) : 0;
    sampler->mapping[sampler->mappings++] = mapping;
}

/* Whether the note of a segment is that of a program by Go's compiler, whose functions keep frame pointers. */
static bool is_of_go(pid_t pid, uint64_t first_page) {
    Elf64_Ehdr header = {0};
    Elf64_Phdr segments[32];
    struct {
        Elf64_Nhdr head;
        char name[4];
    } note;
    peek(pid, first_page, &header, sizeof header);
    const uint64_t base = header.e_type == ET_EXEC ? 0 : first_page;
    const size_t count = peek(pid, first_page + header.e_phoff, segments, sizeof segments) / sizeof segments[0];
    for (size_t i = 0; i < count && i < header.e_phnum; i++)
        if (segments[i].p_type == PT_NOTE && peek(pid, base + segments[i].p_vaddr, &note, sizeof note) == sizeof note)
            if (note.head.n_namesz == sizeof note.name && !memcmp(note.name, "Go\0", sizeof note.name)) return true;
    return false;
}

/* Whatever is executable in the program's memory, read anew when an address is in none of it. */
static void read_mappings(struct sampler *sampler, pid_t pid) {
    char where[32], program[256] = "", line[512], previous[256] = "";
    snprintf(where, sizeof where, "/proc/%d/exe", pid);
    if (readlink(where, program, sizeof program - 1) < 0) {
        sampler->trouble = "it cannot be sampled without /proc";
        return;
    }
    snprintf(where, sizeof where, "/proc/%d/maps", pid);
    FILE *maps = fopen(where, "re");
    if (!maps) return;
    sampler->mappings = 0;
    struct mapping one = {0};
    while (fgets(line, sizeof line, maps)) {
        char mode[8], path[256] = "anonymous";
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255[^\n]", &one.start, &one.end, mode, path) < 3) continue;
        if (strcmp(path, previous)) one.base = base_of(pid, one.start);
        if (strcmp(path, previous) && !strcmp(path, program)) sampler->is_go = is_of_go(pid, one.start);
        memcpy(previous, path, sizeof previous);
        if (mode[2] == 'x') add_mapping(sampler, one, path, program);
    }
    fclose(maps);
}

static const struct mapping *mapping_at(const struct sampler *sampler, uint64_t address) {
    for (uint32_t i = 0; i < sampler->mappings; i++)
        if (sampler->mapping[i].start <= address && address < sampler->mapping[i].end) return &sampler->mapping[i];
    return NULL;
}

/* Whether the instruction before `address` is a call, so that a word on the stack is a return and not mere data. */
static bool follows_call(pid_t pid, uint64_t address) {
#if defined(__x86_64__)
    uint8_t code[7];
    if (peek(pid, address - sizeof code, code, sizeof code) < sizeof code) return false;
    if (code[2] == 0xe8) return true;
    for (int length = 2; length <= 7; length++)
        if (code[7 - length] == 0xff && (code[8 - length] & 0x38) == 0x10) return true;
    return false;
#else
    uint32_t code;
    if (peek(pid, address - sizeof code, &code, sizeof code) < sizeof code) return false;
    return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000;
#endif
}

static void add_caller(const struct sampler *sampler, pid_t pid, struct sample *sample, uint64_t address) {
    const struct mapping *mapping = mapping_at(sampler, address);
    if (!mapping || mapping->module != 0 || sample->callers == MOST_CALLERS || !follows_call(pid, address)) return;
    sample->caller[sample->callers++] = address - mapping->base;
}

/* Whether `address` follows a direct call of the function that `at` is in, as far as can be seen. */
static bool follows_call_of(pid_t pid, uint64_t address, uint64_t at) {
#if defined(__x86_64__)
    uint8_t code[5];
    int32_t way;
    if (peek(pid, address - sizeof code, code, sizeof code) < sizeof code || code[0] != 0xe8) return false;
    memcpy(&way, code + 1, sizeof way);
    return at - (address + (uint64_t)way) < LEAF_BYTES;
#else
    return (void)pid, (void)address, (void)at, false; /* the link register says it */
#endif
}

/* The callers by the chain of frame pointers, which leads from the stack of Go's runtime to that of a goroutine too. */
static void add_frames(const struct sampler *sampler, pid_t pid, struct sample *sample, uint64_t frame) {
    uint64_t words[2];
    for (int i = 0; i < 2 * MOST_CALLERS && peek(pid, frame, words, sizeof words) == sizeof words; i++) {
        add_caller(sampler, pid, sample, words[1]);
        frame = words[0];
    }
}

/* How long a thread that stands still had run since the last call of this; 0 if the kernel does not tell. */
static uint64_t ran_since(struct sampler *sampler, pid_t thread) {
    char where[64], line[64];
    snprintf(where, sizeof where, "/proc/%d/schedstat", thread);
    const int fd = open(where, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const ssize_t got = read(fd, line, sizeof line - 1);
    close(fd);
    line[got > 0 ? got : 0] = 0;
    uint64_t *const before = &sampler->ran_ns[thread % MOST_THREADS];
    const uint64_t ran = strtoull(line, NULL, 10), since = ran > *before ? ran - *before : 0;
    *before = ran;
    return since;
}

static void note(struct sampler *sampler, pid_t pid) {
    struct user_regs_struct registers;
    struct iovec into = {&registers, sizeof registers};
    uint64_t stack[STACK_WORDS];
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &into)) return;
#if defined(__x86_64__)
    const uint64_t at = registers.rip, top = registers.rsp, frame = registers.rbp;
#else
    const uint64_t at = registers.pc, top = registers.sp, frame = registers.regs[29];
#endif
    if (!mapping_at(sampler, at)) read_mappings(sampler, pid);
    const struct mapping *mapping = mapping_at(sampler, at);
    if (!mapping) return;
    struct sample *sample = &sampler->sample[sampler->samples++];
    *sample = (struct sample){
        .module = mapping->module, .cpu_ns = ran_since(sampler, pid), .address = at - mapping->base};
#if defined(__aarch64__)
    add_caller(sampler, pid, sample, registers.regs[30]);
#endif
    const size_t words = peek(pid, top, stack, sampler->is_go ? sizeof stack[0] : sizeof stack) / sizeof stack[0];
    if (!sampler->is_go)
        for (size_t i = 0; i < words; i++) add_caller(sampler, pid, sample, stack[i]);
    else if (words && follows_call_of(pid, stack[0], at))
        add_caller(sampler, pid, sample, stack[0]);
    if (sampler->is_go) add_frames(sampler, pid, sample, frame);
}

static uint32_t chance(uint32_t below) {
    static uint32_t drawn = 1;
    drawn = drawn * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)drawn * below >> 32);
}

/* Makes room: of each two samples one stays, by chance, for both, and from now on half as many are taken. */
static void halve(struct sampler *sampler) {
    for (uint32_t i = 0; i < MOST_SAMPLES / 2; i++) {
        sampler->sample[i] = sampler->sample[2 * i + chance(2)];
        sampler->sample[i].cpu_ns *= 2;
    }
    sampler->samples = MOST_SAMPLES / 2;
    sampler->every_us *= 2;
}

static bool is_stop(const siginfo_t *about) { return about->si_code == CLD_TRAPPED || about->si_code == CLD_STOPPED; }

/* Notes where a held thread is once it stands still, and lets it go; false until then.  It may have ended instead, and
   another thread than the first one then waits for us to take note of that.  The first one may have ended unseen, when
   a thread that is not held became another program under its number. */
static bool finished(struct sampler *sampler, pid_t pid, pid_t thread) {
    siginfo_t about = {0};
    if (waitid(P_PID, (id_t)thread, &about, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL)) return true;
    if (!about.si_pid) return thread == pid && ptrace(PTRACE_INTERRUPT, pid, 0, 0); /* once more does no harm */
    if (!is_stop(&about)) {
        if (thread != pid) waitid(P_PID, (id_t)thread, &about, WEXITED | WNOHANG | __WALL);
        return true;
    }
    waitid(P_PID, (id_t)thread, &about, WSTOPPED | WNOHANG | __WALL);
    const bool ours = about.si_status >> 8 == PTRACE_EVENT_STOP; /* else a signal, which it shall have */
    if (sampler->samples == MOST_SAMPLES) halve(sampler);
    if (ours) note(sampler, thread);
    const int signal = ours ? 0 : about.si_status & 0xff;
    return !ptrace(PTRACE_DETACH, thread, 0, (void *)(intptr_t)signal); /* else it was killed just now */
}

static bool is_held(const struct sampler *sampler, pid_t thread) {
    for (uint32_t i = 0; i < sampler->helds; i++)
        if (sampler->held[i] == thread) return true;
    return false;
}

static void release(struct sampler *sampler, pid_t pid) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < sampler->helds; i++)
        if (!finished(sampler, pid, sampler->held[i])) sampler->held[left++] = sampler->held[i];
    const bool any_gone = left < sampler->helds;
    sampler->helds = left;
    /* a held thread that became another program has the first one's number now, and is still to be let go */
    if (any_gone && !is_held(sampler, pid) && !ptrace(PTRACE_INTERRUPT, pid, 0, 0))
        sampler->held[sampler->helds++] = pid;
}

/* Waits for the ends of threads that are still held, when all have been killed: else the first one has no end. */
static void bury(const struct sampler *sampler, pid_t pid) {
    siginfo_t about;
    for (uint32_t i = 0; i < sampler->helds; i++)
        if (sampler->held[i] != pid) waitid(P_PID, (id_t)sampler->held[i], &about, WEXITED | __WALL);
}

static bool is_running(int tasks, pid_t thread) {
    char where[32], line[128];
    snprintf(where, sizeof where, "%d/stat", thread);
    const int fd = openat(tasks, where, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const ssize_t got = read(fd, line, sizeof line - 1);
    close(fd);
    line[got > 0 ? got : 0] = 0;
    const char *after = strrchr(line, ')'); /* of its name, which it chooses: at most 15 bytes */
    return after && after[1] == ' ' && after[2] == 'R';
}

static struct {
    const struct sampler *sampler;
    pid_t pid;
} holding;

/* A thread that becomes another program waits for the ends of all others, and whoever wants to seize one more waits for
   it: so their ends are taken note of in the midst of that, which the signal interrupts. */
static void hear_of_ends(int signal) {
    const int before = errno;
    (void)signal;
    for (uint32_t i = 0; i < holding.sampler->helds; i++) {
        const pid_t thread = holding.sampler->held[i];
        siginfo_t about = {0}; /* stops of a traced thread are told of too, whatever is asked for */
        waitid(P_PID, (id_t)thread, &about, WEXITED | WNOHANG | WNOWAIT | __WALL);
        if (thread != holding.pid && about.si_pid && !is_stop(&about))
            waitid(P_PID, (id_t)thread, &about, WEXITED | WNOHANG | __WALL);
    }
    errno = before;
}

static void seize(struct sampler *sampler, pid_t thread) {
    sampler->held[sampler->helds++] = thread; /* it may end at once */
    if (!ptrace(PTRACE_SEIZE, thread, 0, 0)) {
        ptrace(PTRACE_INTERRUPT, thread, 0, 0);
        return;
    }
    if (errno != ESRCH) sampler->trouble = strerror(errno);
    sampler->helds--;
}

static uint32_t list_threads(DIR *tasks, pid_t *threads) {
    uint32_t count = 0;
    for (const struct dirent *one; count < MOST_THREADS && (one = readdir(tasks));) {
        threads[count] = (pid_t)atoi(one->d_name);
        count += threads[count] > 0;
    }
    return count;
}

/* Holds the threads that are running or wait for a core: if they are too many, any of them. */
static void hold(struct sampler *sampler, pid_t pid) {
    static pid_t threads[MOST_THREADS];
    const struct sigaction hearing = {.sa_handler = hear_of_ends, .sa_flags = SA_NOCLDSTOP | SA_RESTART};
    char where[32];
    snprintf(where, sizeof where, "/proc/%d/task", pid);
    DIR *tasks = opendir(where);
    if (!tasks) return;
    const uint32_t count = list_threads(tasks, threads);
    holding.sampler = sampler, holding.pid = pid;
    sigaction(SIGCHLD, &hearing, NULL);
    hear_of_ends(SIGCHLD); /* those that came before */
    for (uint32_t i = 0; i < count && sampler->helds < MOST_HELD; i++) {
        const uint32_t drawn = i + chance(count - i);
        const pid_t thread = threads[drawn];
        threads[drawn] = threads[i];
        if (!is_held(sampler, thread) && is_running(dirfd(tasks), thread)) seize(sampler, thread);
    }
    signal(SIGCHLD, SIG_DFL);
    closedir(tasks);
}

static void take_samples(struct sampler *sampler, pid_t pid) {
    const uint64_t begun = now_us();
    release(sampler, pid);
    hold(sampler, pid);
    for (release(sampler, pid); sampler->helds && now_us() - begun < STOP_US; release(sampler, pid))
        poll_for(NULL, 0, 20);
    const uint64_t took = now_us() - begun;
    sampler->pause_us = took > sampler->every_us ? took : sampler->every_us;
}

/* The samples, then the modules' names, each ending in NUL; how many samples. */
static uint32_t write_samples(const struct sampler *sampler, int fd, struct reply *reply) {
    FILE *file = fdopen(dup(fd), "w");
    be_prompt(false);
    if (!file) die("fdopen");
    fwrite(sampler->sample, sizeof sampler->sample[0], sampler->samples, file);
    for (uint32_t i = 0; i < sampler->modules; i++)
        fwrite(sampler->name[i], 1, strlen(sampler->name[i]) + 1, file);
    if (fclose(file)) die("samples");
    if (!sampler->samples && !reply->trouble[0])
        snprintf(reply->trouble, sizeof reply->trouble, "%s", sampler->trouble);
    return sampler->samples;
}
