"""The table of languages: how a program is built and started, and which grammar parses it.

To add a language, add a row (docs/how-to/extend.md).  Inside the sandbox the sources are in ``/src``, a build writes
``/tmp/out``, and an artefact is started through a file descriptor, so ``{artefact}`` is not a stable path.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath
from typing import final

from maxcode.errors import InputError, unknown


@final
@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    ``build``: the arguments of the compiler; {flags}, {sources}, {first} (the first source), {out} and {libraries} are
    replaced.  Without {out} it only checks, and the artefact is the source itself (a zip archive if there are several
    files).
    ``run``: the arguments that start the {artefact}; {main} is the first file's name without suffix, {heap_mb} three
    quarters of the memory that a program may have.
    ``tools``: programs that must be on the PATH; the first tells its version if it is given ``version``.
    ``package``: the Debian package that brings the tools.
    ``watch``: arguments of the compiler that change no code, for diagnostics, lines and remarks.
    ``variables``: of the environment of builds and runs, as NAME=VALUE.
    ``runtime``: the name of the runtime (``sandbox/sealed.py``) that an artefact needs; it sees a copy of that in
    memory, and no other file of the host.
    ``own_mb``, ``own_threads``: what the runtime takes for itself, beside the limits of the program.
    ``native``: whether an artefact is machine code with lines that addr2line reads.
    """

    name: str
    suffixes: tuple[str, ...]
    grammar: str
    tools: tuple[str, ...]
    build: tuple[str, ...]
    run: tuple[str, ...]
    default_flags: tuple[str, ...] = ()
    allowed_flags: tuple[str, ...] = ()  # regular expressions, whole flag
    bare: bool = False  # whether an artefact needs only the compiler's runtime libraries, and no file of the host
    runtime: str = ""
    precompiles: bool = False  # whether the headers at the beginning of the original may be precompiled
    package: str = ""
    version: tuple[str, ...] = ("--version",)
    watch: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    own_mb: int = 0
    own_threads: int = 0
    native: bool = False
    paired: bool = False  # whether compiler and runtime need a pair of connected sockets (``Job.paired``)
    several: bool = True  # whether a program may have several files

    @property
    def by_gcc(self) -> bool:
        """Whether gcc or g++ builds it, with its sanitizers and flags."""
        return self.grammar in ("c", "cpp")

    @property
    def compiled(self) -> bool:
        """Whether a build makes something other than the source."""
        return any("{out}" in word for word in self.build)

    def command(self, first: str, memory_mb: int) -> tuple[str, ...]:
        """The arguments that start an artefact; ``first``: the path of the program's first file."""
        values = {"{main}": PurePosixPath(first).stem, "{heap_mb}": str(memory_mb * 3 // 4)}
        words = list(self.run)
        for name, value in values.items():
            words = [word.replace(name, value) for word in words]
        return tuple(words)


_GCC_FLAGS = (
    r"-O[0-3sg]|-Ofast",
    r"-std=[a-z0-9+]+",
    r"-m[a-z0-9=.,-]+",
    r"-f(?!plugin|sanitize|profile|dump|opt-info|save|diagnostics|file-prefix|syntax)[a-z0-9=-]+",
    r"-g[0-3]?|-w|-W(?!l,|a,|p,|rapper)[a-z0-9=+-]*|-pthread|-static|-pipe|-s",
    r"-D[A-Za-z_]\w*(=[\w.+-]*)?|-U[A-Za-z_]\w*",
    r"-l(m|pthread|gomp|stdc\+\+|atomic|rt|quadmath)",
)
# What a build knows of the time would tell a program how old it is.
_GCC_TIMELESS = (
    *("-Wno-builtin-macro-redefined", '-D__TIME__="00:00:00"', '-D__DATE__="Jan  1 1970"'),
    '-D__TIMESTAMP__="Thu Jan  1 00:00:00 1970"',
)
_GCC_WATCH = (
    *("-fmax-errors=20", "-fno-diagnostics-show-caret", "-fdiagnostics-color=never"),
    *("-g1", "-fopt-info-vec-optimized-missed=/tmp/remarks"),
)
_RUST_FLAGS = (
    r"-O|-g|--edition=20\d\d",
    r"-C(opt-level=[0-3sz]|target-cpu=[\w.-]+|target-feature=[\w.,+-]+|lto(=(fat|thin|yes|no|off))?|codegen-units=\d+)",
    r"-C(panic=(abort|unwind)|overflow-checks=(yes|no|on|off)|debug-assertions=(yes|no|on|off)|inline-threshold=\d+)",
    r"-A\w+",
)
_GO_FLAGS = (r"-gcflags=(all=)?-[BlN]", r"-ldflags=-[sw]", r"-tags=[\w,]+")
_JAVA_FLAGS = (r"-g(:none)?|-nowarn|-Xlint(:[a-z,-]+)?|--release=\d+|-parameters",)

_PYTHON_CHECK = "import sys; [compile(open(path).read(), path, 'exec') for path in sys.argv[1:]]"
# The name of the current folder is not the same in both tiers, and Go wants an absolute path for its cache.
_GO_BUILD = (
    'unset PWD; GOCACHE="$(cd -P "$TMPDIR" && pwd -P)/go" GOTMPDIR="$(cd -P "$TMPDIR" && pwd -P)" '
    'exec /usr/bin/go build -trimpath -o "$@"'
)
_JVM = "/usr/lib/jvm/default-java/bin"
_JVM_SMALL = ("-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:CompressedClassSpaceSize=64m",
              "-XX:ReservedCodeCacheSize=96m")  # fmt: skip
_JAVA_BUILD = (
    f'J="-J-Xmx512m {" ".join(f"-J{word}" for word in _JVM_SMALL)}"; out="$1"; shift; '
    f'{_JVM}/javac $J -proc:none -encoding UTF-8 -d "$TMPDIR/classes" "$@" && '
    f'exec {_JVM}/jar $J --create --file "$out" --no-manifest -C "$TMPDIR/classes" .'
)

LANGUAGES = {
    row.name: row
    for row in (
        Language(
            name="cpp", suffixes=(".cpp", ".cc", ".cxx", ".C"), grammar="cpp", tools=("g++",), package="g++",
            build=("g++", *_GCC_TIMELESS, "{flags}", "{sources}", "-o", "{out}", "{libraries}"),
            run=("{artefact}",), native=True,
            default_flags=("-std=c++17", "-O3"), allowed_flags=_GCC_FLAGS, bare=True, precompiles=True,
            watch=_GCC_WATCH,
        ),
        Language(
            name="c", suffixes=(".c",), grammar="c", tools=("gcc",), package="gcc",
            build=("gcc", *_GCC_TIMELESS, "{flags}", "{sources}", "-o", "{out}", "{libraries}", "-lm"),
            run=("{artefact}",), default_flags=("-std=gnu17", "-O3"), allowed_flags=_GCC_FLAGS, bare=True, native=True,
            watch=_GCC_WATCH,
        ),
        Language(
            name="python", suffixes=(".py",), grammar="python", tools=("/usr/bin/python3",), package="python3",
            build=("/usr/bin/python3", "-I", "-c", _PYTHON_CHECK, "{sources}"),
            run=("/usr/bin/python3", "-I", "{artefact}"), runtime="python",
        ),
        Language(
            name="rust", suffixes=(".rs",), grammar="", tools=("/usr/bin/rustc",), package="rustc",
            build=("/usr/bin/rustc", "{flags}", "-o", "{out}", "{first}"), run=("{artefact}",),
            default_flags=("--edition=2021", "-Copt-level=3"), allowed_flags=_RUST_FLAGS, bare=True, native=True,
            watch=("-Cdebuginfo=1", "--color=never"),
        ),
        Language(
            name="go", suffixes=(".go",), grammar="", tools=("/usr/bin/go",), package="golang-go", version=("version",),
            build=("/bin/sh", "-c", _GO_BUILD, "go", "{out}", "{flags}", "{sources}"), run=("{artefact}",),
            allowed_flags=_GO_FLAGS, runtime="none", own_mb=128, own_threads=8,
            variables=("CGO_ENABLED=0", "GO111MODULE=off", "GOTOOLCHAIN=local", "GOFLAGS="),
        ),
        Language(
            name="java", suffixes=(".java",), grammar="", tools=(f"{_JVM}/java", f"{_JVM}/javac"),
            version=(*_JVM_SMALL, "-Xmx64m", "--version"),
            package="default-jdk-headless",
            build=("/bin/sh", "-c", _JAVA_BUILD, "javac", "{out}", "{flags}", "{sources}"),
            run=(f"{_JVM}/java", *_JVM_SMALL, "-Xmx{heap_mb}m", "-cp", "{artefact}", "{main}"),
            allowed_flags=_JAVA_FLAGS, runtime="java", own_mb=768, own_threads=32, paired=True,
        ),
        Language(
            name="javascript", suffixes=(".js",), grammar="", tools=("/usr/bin/node",), package="nodejs",
            build=("/usr/bin/node", "--check", "{first}"),
            run=("/usr/bin/node", "--preserve-symlinks-main", "--max-old-space-size={heap_mb}", "{artefact}"),
            runtime="node", variables=("OPENSSL_CONF=/dev/null",), own_mb=1536, own_threads=16, several=False,
        ),
    )
}  # fmt: skip


def language(name: str) -> Language:
    """The row called ``name``; InputError with the nearest spelling if there is none."""
    if name not in LANGUAGES:
        raise unknown("language", name, LANGUAGES)
    return LANGUAGES[name]


HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".inl", ".ipp", ".tcc", ".tpp", ".txx", ".cuh")
"""The suffixes of what C, C++ and CUDA include.  Not ``.inc``, which other languages have too."""
C_FAMILY = (*LANGUAGES["c"].suffixes, *LANGUAGES["cpp"].suffixes, *HEADERS)
_ALIKE = {**dict.fromkeys(HEADERS, "cpp"),
          **dict.fromkeys((".mjs", ".cjs", ".jsx", ".ts", ".tsx"), "javascript")}  # fmt: skip


def language_at(path: str) -> str:
    """The name of the language in which a file is read, by its suffix: headers as C++, the variants of JavaScript as
    that; empty if there is none."""
    suffix = PurePath(path).suffix
    return next((row.name for row in LANGUAGES.values() if suffix in row.suffixes), _ALIKE.get(suffix, ""))


def language_of(path: str) -> Language:
    """The language of a file, by its suffix; InputError if no language has that suffix."""
    suffix = PurePath(path).suffix
    for row in LANGUAGES.values():
        if suffix in row.suffixes:
            return row
    known = ", ".join(s for row in LANGUAGES.values() for s in row.suffixes)
    raise InputError(
        f"cannot tell the language of '{path}': its suffix is none of {known}; "
        "rename it, or set `language` in problem.toml"
    )
