"""The names of files that decide how a repository is built, tested and measured, whoever reads them."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from maxcode.code.cpp.words import words as _words

_NAMES = _words(
    "conftest.py sitecustomize.py usercustomize.py setup.py setup.cfg pyproject.toml tox.ini pytest.ini noxfile.py "
    "Pipfile Pipfile.lock poetry.lock uv.lock requirements.txt MANIFEST.in CMakeLists.txt CMakePresets.json "
    "CMakeUserPresets.json configure configure.ac meson.build meson_options.txt meson.options SConstruct SConscript "
    "wscript xmake.lua premake5.lua build.ninja conanfile.py conanfile.txt vcpkg.json BUILD BUILD.bazel BUCK WORKSPACE "
    "Cargo.toml Cargo.lock build.rs rust-toolchain rust-toolchain.toml go.mod go.sum go.work package.json "
    "package-lock.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml lerna.json nx.json turbo.json project.json "
    "deno.json deno.jsonc angular.json import_map.json binding.gyp ember-cli-build.js pom.xml build.gradle gradlew "
    "mvnw settings.gradle gradle.properties junit-platform.properties testng.xml build.sbt build.zig "
    "build.zig.zon Package.swift Package.resolved mix.exs rebar.config dune dune-project stack.yaml Gemfile "
    "composer.json phpunit.xml phpunit.xml.dist config.nims deps.edn project.clj"
)
_AT_THE_TOP = _words("tasks.py dodo.py fabfile.py build.py hatch_build.py versioneer.py build.js build.mjs build.cjs")
_SUFFIXES = (
    *(".pth", ".cmake", ".mk", ".mak", ".make", ".m4", ".egg-link", ".gradle", ".kts", ".bazel", ".bzl", ".lock"),
    *(".toml", ".cfg", ".ini", ".cabal", ".gemspec", ".csproj", ".props", ".targets", ".gyp", ".gypi"),
)
# What stands before the first dot of a name, in small letters.
_STEMS = _words(
    "makefile gnumakefile bsdmakefile gulpfile gruntfile jakefile cakefile rakefile justfile taskfile setuptests "
    "setupjest wallaby"
)
_COMPILED = _words("rs go c h cc cpp cxx hh hpp hxx java kt scala swift zig cs")  # sources, whatever stands before
_TOOLS_OF_SCRIPTS = _words(
    "jest vitest vite webpack rollup babel karma mocha ava jasmine protractor playwright cypress esbuild tsup "
    "tsconfig jsconfig"
)
_ALSO_WORDS = _words("parcel workspace")  # names of tools too, and more often of what an application is about
_BETWEEN_DOTS = _words("config conf setup workspace preset")
_OF_SCRIPTS = _words("js cjs mjs jsx ts cts mts tsx json json5 yml yaml")
_FOLDERS = _words(
    "tests test testing testdata spec __tests__ __mocks__ __snapshots__ bench benches benchmark benchmarks venv "
    "node_modules site-packages vendor third_party meta-inf buildsrc"
)
_INSTALLED = (".egg-info", ".dist-info")  # folders by which Python's tools find plug-ins
_TESTING = re.compile(
    r"(?:test[_-].*|.*_test|.*[-_.]tests?|tests?|.*\.(?:test|spec)|.*bench(?:mark)?s?|bench.*|conftest|pytest_.*)\.\w+",
    re.IGNORECASE,
)


def why_decides(pure: PurePosixPath) -> str:
    """Why a file of this path decides; empty if its path does not tell so."""
    parts, folders = pure.name.lower().split("."), [part.lower() for part in pure.parts[:-1]]
    if pure.name in _NAMES or pure.suffix in _SUFFIXES or (not folders and pure.name in _AT_THE_TOP):
        return "it configures the build or the tests"
    is_stem = parts[0] in _STEMS and parts[-1] not in _COMPILED
    if not parts[0] or is_stem or (parts[-1] in _OF_SCRIPTS and _is_of_a_tool(parts)):
        return "a name of this kind configures the build or the tests"
    if is_of_tests(pure.name) or any(_is_apart(one) for one in folders):
        return "it belongs to the tests or the benchmark, or is made by tools"
    return ""


def is_of_tests(name: str) -> bool:
    """Whether a file has the name of a test or a benchmark."""
    return _TESTING.fullmatch(name) is not None


def _is_of_a_tool(parts: list[str]) -> bool:
    """Whether a name configures a tool of JavaScript: ``app.config.js``, ``webpack.common.js``, ``tsconfig.json``."""
    between, is_json = parts[1:-1], parts[-1] in ("json", "json5")
    return (
        not _BETWEEN_DOTS.isdisjoint(between)
        or (parts[0] in _TOOLS_OF_SCRIPTS and (bool(between) or is_json))
        or (parts[0] in _ALSO_WORDS and is_json)
    )


def _is_apart(folder: str) -> bool:
    return folder in _FOLDERS or folder.startswith(".") or folder.endswith(_INSTALLED)
