#!/bin/sh
# Install the Debian packages maxcode needs, or say which ones and how, where this user may not.
# With "browser" also the one that its tests open pages in; with "slurm" also what tests of clusters start.
set -eu
PATH=$PATH:/usr/sbin:/sbin # where daemons are, for who is not root

need=""
command -v bwrap >/dev/null 2>&1 || need="$need bubblewrap"
command -v g++ >/dev/null 2>&1 || need="$need g++"
command -v gcc >/dev/null 2>&1 || need="$need gcc"
command -v addr2line >/dev/null 2>&1 || need="$need binutils"
command -v valgrind >/dev/null 2>&1 || need="$need valgrind"
[ -x /usr/bin/python3 ] || need="$need python3"
ls /usr/include/python3*/Python.h >/dev/null 2>&1 || need="$need python3-dev" # what torch.compile builds includes it
"${PYTHON:-python3}" -c 'import ensurepip, venv' 2>/dev/null || need="$need python3-venv"
if [ "${1:-}" = browser ]; then
    { command -v chromium && command -v chromedriver; } >/dev/null 2>&1 || need="$need chromium chromium-driver"
fi
if [ "${1:-}" = slurm ]; then
    command -v slurmctld >/dev/null 2>&1 || need="$need slurmctld"
    command -v slurmd >/dev/null 2>&1 || need="$need slurmd"
    command -v sbatch >/dev/null 2>&1 || need="$need slurm-client"
    command -v munged >/dev/null 2>&1 || need="$need munge"
    command -v ip >/dev/null 2>&1 || need="$need iproute2" # two nodes in network namespaces of their own
fi

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
