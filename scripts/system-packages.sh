#!/bin/sh
# Install the Debian packages that maxcode needs, or say which ones and how, where this user may not install.
# Without arguments: what building and measuring C and C++ programs needs.  Groups add to it:
#   test     what the tests need beside
#   browser  Chromium, for the tests that open pages
#   toolchains  the compilers of Rust, Go and Java (1.1 GB), for the tests of programs in these languages
#   slurm    a small Slurm cluster, for the tests of clusters
set -eu
PATH=$PATH:/usr/sbin:/sbin # daemons are there, also for a user who is not root

need=""
tool() { # COMMAND PACKAGE: PACKAGE is needed where there is no COMMAND
    command -v "$1" >/dev/null 2>&1 || need="$need $2"
}

tool bwrap bubblewrap
tool g++ g++
tool gcc gcc
tool addr2line binutils
"${PYTHON:-python3}" -c 'import ensurepip, venv' 2>/dev/null || need="$need python3-venv"
for group in "$@"; do
    case $group in
    test)
        tool valgrind valgrind
        tool /usr/bin/python3 python3
        tool /usr/bin/node nodejs
        ls /usr/include/python3*/Python.h >/dev/null 2>&1 || need="$need python3-dev" # torch.compile builds with it
        ;;
    browser)
        tool chromium chromium
        tool chromedriver chromium-driver
        ;;
    toolchains)
        tool /usr/bin/rustc rustc
        tool /usr/bin/go golang-go
        tool /usr/lib/jvm/default-java/bin/javac default-jdk-headless
        ;;
    slurm)
        tool slurmctld slurmctld
        tool slurmd slurmd
        tool sbatch slurm-client
        tool munged munge
        tool ip iproute2 # two nodes in network namespaces of their own
        ;;
    *)
        echo "there is no group '$group' of packages; give test, browser, slurm or toolchains" >&2
        exit 2
        ;;
    esac
done

[ -n "$need" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing:$need"
    apt-get update -qq
    # shellcheck disable=SC2086  # a list on purpose
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $need >/dev/null
else
    echo "maxcode needs these system packages:$need" >&2
    echo "install them with:  sudo apt-get install$need" >&2
    exit 1
fi
