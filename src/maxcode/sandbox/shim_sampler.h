/* A sampled profile of the program under test; part of shim.c.
 *
 * The shim stops its child a few thousand times a second, notes where it is and which calls of the program itself led
 * there, and lets it go on.  That slows the program: for diagnosis, never for timing.  Addresses are those of the ELF
 * file, as debuggers and addr2line use them.  Only the main thread is followed.
 */
#define MOST_SAMPLES 8192
#define MOST_MAPPINGS 256
#define MOST_CALLERS 32
#define STACK_WORDS 1024
#define NAME 64

struct sample {
    uint32_t module, callers;
    uint64_t address, caller[MOST_CALLERS];
};

struct mapping {
    uint64_t start, end, base; /* `base` is what to take off an address to have that of the ELF file */
    uint32_t module;
};

struct sampler {
    bool attached;
    uint64_t every_us, begun_us;
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

static void start_sampling(struct sampler *sampler, pid_t pid, int notes) {
    struct pollfd started = {notes, 0, 0}; /* only its closing counts */
    sampler->samples = sampler->mappings = 0;
    sampler->modules = 1;
    sampler->trouble = NULL;
    sampler->every_us = 200;
    sampler->begun_us = now_us();
    be_prompt(true);
    poll_for(&started, 1, 1000000); /* its other end closes on exec; before that the child cannot be traced */
    sampler->attached = !ptrace(PTRACE_SEIZE, pid, 0, 0);
    if (!sampler->attached) sampler->trouble = errno == ESRCH ? "it ended too soon" : strerror(errno);
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

static void note(struct sampler *sampler, pid_t pid) {
    struct user_regs_struct registers;
    struct iovec into = {&registers, sizeof registers};
    uint64_t stack[STACK_WORDS];
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &into) || sampler->samples == MOST_SAMPLES) return;
#if defined(__x86_64__)
    const uint64_t at = registers.rip, top = registers.rsp;
#else
    const uint64_t at = registers.pc, top = registers.sp;
#endif
    if (!mapping_at(sampler, at)) read_mappings(sampler, pid);
    const struct mapping *mapping = mapping_at(sampler, at);
    if (!mapping) return;
    struct sample *sample = &sampler->sample[sampler->samples++];
    *sample = (struct sample){.module = mapping->module, .address = at - mapping->base};
#if defined(__aarch64__)
    add_caller(sampler, pid, sample, registers.regs[30]);
#endif
    const size_t words = peek(pid, top, stack, sizeof stack) / sizeof stack[0];
    for (size_t i = 0; i < words; i++) add_caller(sampler, pid, sample, stack[i]);
}

/* True once the program stands still, false when it ended first or does not stop (a wait in the kernel can last). */
static bool stopped(pid_t pid, uint64_t until_us, int *event) {
    while (now_us() < until_us) {
        siginfo_t about = {0};
        if (waitid(P_PID, (id_t)pid, &about, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL)) return false;
        if (about.si_pid && about.si_code != CLD_TRAPPED && about.si_code != CLD_STOPPED) return false;
        if (about.si_pid) {
            waitid(P_PID, (id_t)pid, &about, WSTOPPED | WNOHANG | __WALL);
            *event = about.si_status;
            return true;
        }
        poll_for(NULL, 0, 20);
    }
    return false;
}

static void take_sample(struct sampler *sampler, pid_t pid, uint64_t until_us) {
    int event;
    if (!sampler->attached || ptrace(PTRACE_INTERRUPT, pid, 0, 0) || !stopped(pid, until_us, &event)) return;
    const bool ours = event >> 8 == PTRACE_EVENT_STOP; /* else a signal for the program, which shall have it */
    if (ours) note(sampler, pid);
    ptrace(PTRACE_CONT, pid, 0, ours ? 0 : (void *)(intptr_t)(event & 0xff));
    /* Short programs are looked at often, long ones no more often than their profile needs. */
    const uint64_t age = now_us() - sampler->begun_us;
    sampler->every_us = age / 2000 > 200 ? age / 2000 : 200;
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
    if (sampler->trouble && !reply->trouble[0])
        snprintf(reply->trouble, sizeof reply->trouble, "%s", sampler->trouble);
    return sampler->samples;
}
