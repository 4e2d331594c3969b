/* sysinfo(2), answered by the shim; part of shim.c.
 *
 * The kernel's answer holds the load and the free memory of the whole machine: a program that moves them in one run can
 * read them in a later one.  To refuse it is no way out: glibc does not look whether the call worked, and its qsort,
 * which asks how much memory there is, would sort by what happens to lie on the stack.  So each program is told the
 * same: the machine's memory, all free, and nothing else.  That takes the right to write to its memory, as sampling
 * takes the right to read it.  What the shim does there on its own time (pages that nobody has touched, huge ones; the
 * end of a process that leaves meanwhile) is put on the program's bill.
 */
static struct sysinfo told;
static uint64_t told_ns; /* of the shim's processor time: where it writes it may have to bring pages, which is charged */

static void prepare_told(void) {
    struct sysinfo real;
    if (sysinfo(&real)) die("sysinfo");
    told.totalram = told.freeram = real.totalram;
    told.mem_unit = real.mem_unit;
    told.procs = 1;
}

/* Answers one call, for the thread that waits for it; -1 once nobody is left to ask, else `listener`. */
static int tell(int listener, short events) {
    union {
        struct seccomp_notif call;
        char room[256]; /* for what a later kernel may add */
    } asked = {0};
    struct seccomp_notif_resp said = {0};
    if (!(events & POLLIN)) return events ? (close(listener), -1) : listener;
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked)) return listener; /* it was interrupted, and will ask again */
    struct iovec ours = {&told, sizeof told}, theirs = {(void *)(uintptr_t)asked.call.data.args[0], sizeof told};
    const uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (process_vm_writev((pid_t)asked.call.pid, &ours, 1, &theirs, 1, 0) != sizeof told) said.error = -EFAULT;
    said.id = asked.call.id;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &said);
    told_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    return listener;
}
