"""Which system calls a program may make: honest programs of every sort go on working, and counters are out of reach."""

from __future__ import annotations

import os
import struct
from dataclasses import replace

import anyio
import pytest

from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox
from tests.support.sandboxed import RUN

CPP = """
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <iomanip>
#include <iostream>
#include <locale>
#include <mutex>
#include <random>
#include <regex>
#include <sstream>
#include <thread>
#include <vector>
#include <omp.h>

static void files() {
    namespace fs = std::filesystem;
    std::error_code trouble;
    if (!fs::exists("/dev/null") || fs::current_path() != "/tmp") throw 1;
    fs::create_directory("/tmp/new", trouble);
    if (!trouble || fs::is_regular_file("/tmp/new")) throw 2;
    for (const auto &entry : fs::recursive_directory_iterator("/usr"))
        if (entry.is_regular_file() && fs::file_size(entry) == 0) throw 3;
    if (std::ifstream("/nothing")) throw 4;
}

static void threads() {
    std::mutex mutex;
    std::condition_variable done;
    int left = 4;
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; i++) workers.emplace_back([&] {
        std::vector<std::string> much(1000, std::string(100, 'x')); /* in an arena of its own */
        std::lock_guard lock(mutex);
        if (--left == 0) done.notify_all();
    });
    std::unique_lock lock(mutex);
    if (!done.wait_for(lock, std::chrono::seconds(5), [&] { return left == 0; })) throw 5;
    lock.unlock();
    for (auto &worker : workers) worker.join();
    if (std::async(std::launch::async, [] { return 7; }).get() != 7 || !std::thread::hardware_concurrency()) throw 6;
}

int main() {
    std::ios::sync_with_stdio(false);
    std::string word;
    std::cin >> word;
    files();
    threads();
    std::random_device device;
    std::mt19937_64 random(device());
    std::vector<long> numbers(1 << 20);
    for (auto &number : numbers) number = (long)random();
    std::stable_sort(numbers.begin(), numbers.end());
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; i++) sum += std::sqrt(i);
    const auto began = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (std::chrono::steady_clock::now() == began || !std::regex_match(word, std::regex("[a-z]+"))) throw 7;
    try { numbers.at(1 << 21); } catch (const std::out_of_range &) { std::cout << "caught "; }
    std::cout << word << ' ' << std::fixed << std::setprecision(3) << sum << std::endl;
}
"""

C = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct row { int key, place; char rest[56]; };
static struct row rows[1 << 16];
static volatile int alarms;

static int order(const void *a, const void *b) { return ((const struct row *)a)->key - ((const struct row *)b)->key; }
static void on_alarm(int signal) { alarms += signal == SIGALRM; }

static void *work(void *name) {
    void *room = malloc(1 << 20);
    pthread_setname_np(pthread_self(), name);
    free(room);
    return name;
}

/* qsort asks for the machine's memory, and is a stable merge sort where there is enough. */
static int sorts(void) {
    for (int i = 0; i < 1 << 16; i++) rows[i] = (struct row){.key = i % 7, .place = i};
    qsort(rows, 1 << 16, sizeof rows[0], order);
    for (int i = 1; i < 1 << 16; i++)
        if (rows[i - 1].key * (1 << 16) + rows[i - 1].place >= rows[i].key * (1 << 16) + rows[i].place) return 0;
    return sysconf(_SC_PHYS_PAGES) > 0 && sysconf(_SC_AVPHYS_PAGES) > 0 && sysconf(_SC_NPROCESSORS_ONLN) > 0;
}

static int has_clocks(void) {
    struct timespec used;
    clockid_t own;
    pthread_getcpuclockid(pthread_self(), &own);
    return !clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) && !clock_gettime(own, &used) && clock() >= 0;
}

static int has_memory(void) {
    char *page = mmap(NULL, 1 << 22, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (page == MAP_FAILED || madvise(page, 1 << 22, MADV_HUGEPAGE) || madvise(page, 4096, MADV_DONTNEED)) return 0;
    page = mremap(page, 1 << 22, 1 << 23, MREMAP_MAYMOVE);
    return page != MAP_FAILED && !mprotect(page, 4096, PROT_NONE) && !munmap(page, 1 << 23) && malloc_trim(0) >= 0;
}

static int has_input(void) {
    struct stat about;
    if (fstat(0, &about) || about.st_size != 6) return 0;
    const char *text = mmap(NULL, 6, PROT_READ, MAP_SHARED, 0, 0);
    return text != MAP_FAILED && !memcmp(text, "words", 5) && !isatty(0) && errno == ENOTTY;
}

int main(void) {
    pthread_t thread;
    struct itimerval soon = {{0, 1000}, {0, 1000}};
    struct rusage used;
    int status = 1;
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &soon, NULL);
    while (!alarms) pause();
    if (pthread_create(&thread, NULL, work, "worker") || pthread_join(thread, NULL)) return 2;
    const pid_t child = fork();
    if (child == 0) _exit(3);
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3) return 3;
    if (!sorts()) return 4;
    if (!has_clocks() || getrusage(RUSAGE_SELF, &used)) return 5;
    if (!has_memory()) return 6;
    if (!has_input()) return 7;
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    return printf("well\\n") < 0;
}
"""

PYTHON = """
import concurrent.futures, ctypes, hashlib, json, os, random, re, subprocess, sys, tempfile, threading, time

assert subprocess.run(["echo", "child"], capture_output=True).stdout == b"child\\n"
thread = threading.Thread(target=time.sleep, args=(0.001,))
thread.start()
thread.join()
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    assert list(pool.map(abs, [-1, 2])) == [1, 2]
assert ctypes.CDLL(None).getpid() == os.getpid()
assert os.cpu_count() and hashlib.sha256(os.urandom(8)).digest() and random.random() >= 0
print(json.dumps({"given": sys.stdin.read()}))
"""

SHELL = """
set -e
cd /tmp
seq 10000 | sort -rn --parallel=2 | awk '{s += $1} END {printf "%d\\n", s}'
printf 'all: a b\\na:\\n\\ttouch a\\nb:\\n\\techo made > b\\n' > Makefile
make -s -j2
find . -name b | xargs -P2 -n1 cat
tar cf t.tar a b && gzip -c t.tar | gunzip | tar tf -
cp b c && mv c d && chmod 700 d && touch -d @1 d && ln -s d e && cmp d e && truncate -s 3 d && rm e
bash -c 'cat <(echo substituted)'
echo 'int f(void) { return 1; }' > f.c
echo 'int f(void); int main(void) { return f() - 1; }' > m.c
gcc -pipe -O2 -flto=2 f.c m.c -o m && ./m && strip m && ./m
python3 -c 'import subprocess; print(subprocess.check_output("echo python", shell=True, text=True), end="")'
"""


def run(sandbox: Sandbox, source: str, *flags: str, bare: bool = True) -> Ran:
    """Build it in the sandbox and run it there with the input `words`."""
    compiler, path = ("gcc", "/src/a.c") if source is C or source.startswith("//C") else ("g++", "/src/a.cpp")
    argv = (compiler, "-O2", "-pthread", path, "-o", "/tmp/out", *flags)

    async def both() -> Ran:
        async with sandbox.session([], Mounts({path.removeprefix("/src/"): source})) as session:
            built = await session.run(Job(argv, cpu_s=60, wall_s=180, collect=("/tmp/out",)))
        assert built.ok, built.stderr.decode()
        with Blob.of(built.files["/tmp/out"]) as artefact, Blob.of(b"words\n") as given:
            async with sandbox.session([artefact, given], bare=bare) as session:
                return await session.run(replace(RUN, artefact=artefact, stdin=given))

    return anyio.run(both)


@pytest.mark.parametrize("linkage", [(), pytest.param(("-static",), marks=pytest.mark.slow)])
def test_honest_cpp_finds_all_it_needs(sandbox: Sandbox, linkage: tuple[str, ...]) -> None:
    ran = run(sandbox, CPP, "-std=c++17", "-fopenmp", *linkage)
    assert ran.ok, (ran.ending, ran.code, ran.stderr)
    assert ran.stdout == b"caught words 21065.833\n"


@pytest.mark.parametrize("linkage", [(), ("-static",)])
def test_honest_c_finds_all_it_needs(sandbox: Sandbox, linkage: tuple[str, ...]) -> None:
    ran = run(sandbox, C, *linkage)
    assert (ran.ending, ran.code, ran.stdout) == ("exit", 0, b"well\n"), ran.stderr


def test_sanitizers_find_all_they_need(sandbox: Sandbox) -> None:
    argv = ("gcc", "-O1", "-g", "-pthread", "-fsanitize=undefined", "/src/a.c", "-o", "/tmp/out")

    async def both() -> Ran:
        async with sandbox.session([], Mounts({"a.c": C})) as session:
            built = await session.run(Job(argv, cpu_s=60, wall_s=180, collect=("/tmp/out",)))
        with Blob.of(built.files["/tmp/out"]) as artefact, Blob.of(b"words\n") as given:
            async with sandbox.session([artefact, given]) as session:
                return await session.run(replace(RUN, artefact=artefact, stdin=given))

    ran = anyio.run(both)
    assert (ran.ending, ran.code, ran.stdout, ran.stderr) == ("exit", 0, b"well\n", b"")


def test_honest_python_finds_all_it_needs(sandbox: Sandbox) -> None:
    async def both() -> Ran:
        with Blob.of(PYTHON.encode()) as artefact, Blob.of(b"words\n") as given:
            async with sandbox.session([artefact, given]) as session:
                job = Job(("/usr/bin/python3", "-I", "{artefact}"), artefact=artefact, stdin=given)
                return await session.run(job)

    ran = anyio.run(both)
    assert ran.ok, ran.stderr.decode()
    assert ran.stdout == b'{"given": "words\\n"}\n'


TOLD = """
#include <stdio.h>
#include <sys/sysinfo.h>
int main(void) {
    struct sysinfo about;
    if (sysinfo(&about)) return 1;
    const unsigned long load = about.loads[0] + about.loads[1] + about.loads[2];
    printf("%lu %d %lu\\n", about.totalram * about.mem_unit, about.procs, load);
    return about.freeram != about.totalram;
}
"""

FUNCTION = """
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>
int main(void) {
    struct sysinfo about;
    int ends[2];
    char word = 'd';
    char *at = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
    if (write(6, &word, 1) != 1) return 1;
    while (read(5, &word, 1) == 1) {
        double *out = (double *)(at + 4096);
        out[0] = sysinfo(&about) ? -1 : (double)about.totalram * about.mem_unit;
        out[1] = pipe(ends);
        if (write(6, &word, 1) != 1) return 2;
    }
    return 0;
}
"""


@pytest.mark.tiers("1", "2")
@pytest.mark.parametrize("bare", [True, False])
def test_every_run_is_told_the_same_of_the_machine(sandbox: Sandbox, bare: bool) -> None:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    ran = run(sandbox, "//C" + TOLD, bare=bare)
    assert (ran.ok, ran.stdout.decode().split()) == (True, [str(memory), "1", "0"])


@pytest.mark.tiers("1", "2")
def test_a_function_is_told_it_in_the_middle_of_its_calls(sandbox: Sandbox) -> None:
    rounds, written = 3, 1
    plan = struct.pack("<4I3Q", 1, 1, rounds, 0, 16, written, 0)

    async def both() -> Ran:
        async with sandbox.session([], Mounts({"a.c": FUNCTION})) as session:
            built = await session.run(
                Job(("gcc", "-O1", "/src/a.c", "-o", "/tmp/out"), wall_s=60, collect=("/tmp/out",))
            )
        with Blob.of(built.files["/tmp/out"]) as artefact, Blob.of(plan) as given:
            async with sandbox.session([artefact, given], bare=True) as session:
                return await session.run(replace(RUN, artefact=artefact, stdin=given, called=True))

    ran = anyio.run(both)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert (ran.ending, ran.code) == ("exit", 0)
    assert struct.unpack("<6d", ran.stdout) == (float(memory), -1.0) * rounds


def test_a_build_finds_all_it_needs(sandbox: Sandbox) -> None:
    async def both() -> Ran:
        async with sandbox.session([], Mounts({"a.sh": SHELL})) as session:
            return await session.run(Job(("bash", "/src/a.sh"), cpu_s=60, wall_s=180))

    ran = anyio.run(both)
    assert ran.ok, ran.stderr.decode()
    assert ran.stdout.decode().split() == ["50005000", "made", "a", "b", "substituted", "python"]
