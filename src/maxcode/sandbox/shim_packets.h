/* Jobs as they arrive on the socket, and the answers that go back; part of shim.c. */

/* So that when an earlier run chose to read its input does not show in the time of last access. */
static int seen(int fd) {
    char first;
    if (pread(fd, &first, 1, 0) < 0) die("read blob");
    return lifted(fd);
}

static void unpack(struct job *job, ssize_t size) {
    char *at = job->packet, *end = job->packet + size;
    const bool filled = job->ask.flags & FILL;
    const uint64_t count = (uint64_t)job->ask.arguments + job->ask.collected + filled + job->ask.variables;
    if (count > MOST_STRINGS || job->ask.variables > MOST_VARIABLES || job->ask.collected > MOST_FDS - 3) die("malformed job");
    if (job->ask.arguments == 0 || size == 0 || end[-1]) die("malformed job");
    if (job->ask.cpu_us > LONGEST_US || job->ask.wall_us > LONGEST_US) die("malformed job");
    for (uint32_t i = 0, slot = 0; i < count && at < end; i++, at += strlen(at) + 1) {
        if (i == job->ask.arguments) job->strings[slot++] = NULL;
        job->strings[slot++] = at;
    }
    job->strings[job->ask.arguments] = NULL;
    job->collected = job->strings + job->ask.arguments + 1;
    job->library = filled ? job->collected[job->ask.collected] : NULL;
    job->variables = job->collected + job->ask.collected + filled;
}

static void take_fds(struct job *job, struct msghdr *message) {
    const struct cmsghdr *header = CMSG_FIRSTHDR(message);
    const bool fed = job->ask.flags & HAS_STDIN, given = job->ask.flags & HAS_ARTEFACT;
    int fds[2];
    const size_t size = ((size_t)fed + given) * sizeof fds[0];
    if ((header ? header->cmsg_len - CMSG_LEN(0) : 0) != size) die("malformed job");
    if (header) memcpy(fds, CMSG_DATA(header), size);
    job->input = fed ? seen(fds[0]) : lifted(open("/dev/null", O_RDONLY | O_CLOEXEC));
    job->artefact = given ? seen(fds[fed]) : -1;
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
