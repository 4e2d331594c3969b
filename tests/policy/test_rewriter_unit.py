"""What the rewriter knows about a program, and how edits become text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from maxcode.code.cpp.edit import kind_of
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.unit import RUNTIME_END, Unit
from maxcode.code.source import Patch, Token, encode, normalise, parse, tokens
from maxcode.policy.rules.rewriter import reachable
from maxcode.policy.rules.rewriter.rules import RULES, edits
from maxcode.policy.rules.rewriter.runtime import applied, holds, patched, tuned
from tests.support.rewriter_help import FIRE, labels, language_of, text_of


def unit(text: str) -> Unit:
    return Unit("cpp", text)


# -------------------------------------------------------------------------------------------------------- knowledge


def test_macros_are_expanded_before_effects_are_read() -> None:
    text = "#define inc(x) x++\n#define V v\nint v; void f() { inc(V); }"
    found = unit(text)
    body = found.functions[0].body
    assert effects(found).of(body.start_byte, body.end_byte).writes == {"v"}


def test_a_macro_with_two_definitions_hides_everything() -> None:
    text = "#ifdef A\n#define M(x) x++\n#else\n#define M(x) x\n#endif\nint v; void f() { M(v); }"
    found = unit(text)
    body = found.functions[0].body
    assert effects(found).of(body.start_byte, body.end_byte).opaque


@pytest.mark.parametrize(
    ("statement", "written"),
    [
        ("a = b;", {"a"}),
        ("a[b] += c;", {"a"}),
        ("(*a).b = c;", {"a"}),
        ("a->push_back(b);", {"a"}),
        ("a.size(); b.find(c);", set()),
        ("sort(a.begin(), a.end());", {"a"}),
        ("auto& r = a[0];", {"a", "r"}),
        ("for (auto& x : a) x++;", {"a", "x"}),
        ("for (const auto& x : a) b += x;", {"b"}),
        ("cin >> a[b];", {"a"}),
        ('scanf("%d", &a);', {"a"}),
        ("swap(a, b);", {"a", "b"}),
        ("c = a * sqrt(b) & max(a, b);", {"c"}),
        ("auto i = a.begin();", {"a", "i"}),
        ("int x = max(a, b);", {"x"}),
    ],
)
def test_effects_name_what_a_statement_may_change(statement: str, written: set[str]) -> None:
    found = unit(f"void f() {{ {statement} }}")
    body = found.functions[0].body
    assert effects(found).of(body.start_byte, body.end_byte).writes == written


def test_a_callee_may_change_a_global_but_not_a_local() -> None:
    text = "int g; void h() { g = 1; } void f() { int l = 2; h(); }"
    found = unit(text)
    call = encode(text).rindex(b"h();")
    assert effects(found).may_change("g", call, call + 4)
    assert not effects(found).may_change("l", call, call + 4)


def test_types_are_seen_through_aliases() -> None:
    found = unit("#define ll long long\ntypedef std::vector<ll> row;\nusing grid = std::vector<row>;\nint main() {}")
    assert found.resolve("grid") == "vector<vector<long long>>"


def test_variables_read_as_functions_are_still_variables() -> None:
    found = unit("int main() { int n; vector<int> a(n); vector<vector<int>> b(n, vector<int>(n)); }")
    assert [v.name for v in found.variables] == ["n", "a", "b"]


def test_the_runtime_goes_behind_the_includes_and_before_the_macros() -> None:
    text = (
        "// top\n#define _GNU_SOURCE\n#include <iostream>\n#define int long long\n#include <vector>\nsigned main() {}\n"
    )
    assert encode(text)[unit(text).prelude :].startswith(b"#define int")


def test_functions_around_loop_macros_are_not_trusted() -> None:
    text = "#define rep(i, n) for (int i = 0; i < n; i++)\nint main() { rep(i, 3) { f(i); } }"
    assert [f.name for f in unit(text).functions] == ["main"]


# ---------------------------------------------------------------------------------------------------- edits as text


def test_edits_are_right_behind_letters_that_take_several_bytes() -> None:
    text = '#include <iostream>\n// naïve 雪\nint main() { std::cout << "é" << std::endl; }\n'
    found = unit(text)
    edit = next(edit for rule, offered in edits(found) for edit in offered if rule.name == "newline")
    assert applied(found, edit) == text.replace("std::endl", "'\\n'")


def test_bytes_that_are_no_text_survive_an_edit() -> None:
    text = b'#include <iostream>\nint main() { std::cout << "\xff" << std::endl; }\n'.decode("utf-8", "surrogateescape")
    found = unit(text)
    edit = next(edit for rule, offered in edits(found) for edit in offered if rule.name == "newline")
    assert '"\udcff"' in applied(found, edit)


def test_overlapping_patches_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        patched(b"abcdef", [Patch(0, 3, "x"), Patch(2, 4, "y")])


def test_patches_at_one_place_keep_their_order() -> None:
    assert patched(b"ab", [Patch(1, 1, "1"), Patch(1, 1, "2")]) == "a12b"


def test_labels_outlive_other_edits_and_name_a_kind() -> None:
    text = text_of("containers.cpp")
    before = {edit.label for _, offered in edits(unit(text)) for edit in offered}
    newline = "hash_table(ids, table=pooled, load=75, first=4096)"
    assert newline in before
    first = next(edit for rule, offered in edits(unit(text)) for edit in offered if rule.name == "fast_in")
    assert newline in labels("hash_table", applied(unit(text), first))
    assert kind_of(newline) == "hash_table(ids, table=pooled)"
    assert kind_of("fast_in(buffer=65536)") == "fast_in()"


def test_the_runtime_is_no_part_of_the_program_for_later_rules() -> None:
    text = text_of("streams.cpp")
    once = applied(unit(text), next(e for r, o in edits(unit(text)) for e in o if r.name == "fast_in"))
    assert holds(unit(once), "reader")
    assert "mxr_at" not in unit(once).words
    assert labels("attribute", once) == labels("attribute", text)
    assert " reader_buffer = 16384;" in once
    assert " reader_buffer = 4096;" in tuned(once, "reader_buffer", 4096)


def test_a_runtime_without_an_end_is_part_of_the_program() -> None:
    begin, whole = "// ---- maxcode runtime: reader ----\n", "// ---- maxcode runtime: a ----\nint a;\n" + RUNTIME_END
    cut = unit(f"{begin}{text_of('streams.cpp')}{whole}\nint b;\n{begin}")
    assert [cut.between(*span) for span in cut.runtime] == [f"{whole}\n"]
    assert labels("attribute", f"{begin}{text_of('streams.cpp')}") == labels("attribute", text_of("streams.cpp"))


def test_local_edits_work_in_a_file_with_parse_errors() -> None:
    text = (
        "#include <iostream>\n#define rep(i, n) for (int i = 0; i < n; i++)\nusing namespace std;\n"
        "int main() { int n; cin >> n; rep(i, n) cout << i << endl; rep(i, n) { cout << i << endl; } }\n"
    )
    assert parse("cpp", text).root.has_error
    assert {"fast_in", "fast_out", "newline", "sync_off"} <= {rule.name for rule, _ in edits(unit(text))}


def test_an_empty_text_has_nothing_to_offer() -> None:
    assert list(edits(unit(""))) == []


@pytest.mark.heavy
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), program=st.sampled_from(sorted(FIRE)))
@example(seed=1678, program="plain.c")  # ends with the name of a global
def test_broken_programs_raise_nothing(seed: int, program: str) -> None:
    """Programs cut off, or with tokens lost, doubled and exchanged: rules may decline but not fail."""
    language, text = language_of(program), _damaged(text_of(program), random.Random(seed))
    for _, offered in edits(Unit(language, text), inexact=True):
        assert applied(Unit(language, text), offered[0])


def _damaged(text: str, generator: random.Random) -> str:
    if generator.random() < 0.3:
        return text[: generator.randrange(len(text))]
    for _ in range(generator.randint(1, 6)):
        found = tokens(text)
        one, other = generator.choice(found), generator.choice(found)
        data = encode(text)
        stop = one.start if generator.random() < 0.3 else one.end
        text = (data[: one.start] + encode(other.text) * generator.randint(0, 1) + data[stop:]).decode(errors="replace")
    return text


def test_no_pragma_is_put_into_an_argument_of_a_macro() -> None:
    text = "#define ALSO(x) (x)\nint f(int n) { return #(1, (n), ({ while (n) n--; n; })) + (n); }"
    assert labels("unroll", text.replace("#(", "also(")) != []
    assert labels("unroll", text.replace("#(", "ALSO(")) == labels("unroll", text.replace("#(", "assert(")) == []
    behind = "#define ALSO(x) (x)\nint f(int n) { n = ALSO((n)); while (n) n--; return n; }"
    assert labels("unroll", behind) != []


class _Counted(tuple[Token, ...]):
    """Tokens that count how many of them are read."""

    reads = 0

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        self.reads += len(found) if isinstance(key, slice) else 1
        return found

    def __iter__(self) -> Iterator[Token]:
        self.reads += len(self)
        return super().__iter__()


SWEEP = """
double f{0}(double *a, const char *s, int n) {{
    double t = 0;
    for (int i = 0; i < strlen(s); i++) t += a[i] * sqrt(2.0);
    assert(t > (0));
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] += a[j] * s[j * n + i];
    #pragma GCC ivdep
    for (int i = 0; i < n; i++) a[i] = SQUARE(t);
    return t;
}}
"""


@pytest.mark.parametrize("rule", [rule.name for rule in RULES if "c" in rule.languages])
def test_twice_as_many_functions_cost_a_rule_twice_the_tokens(rule: str) -> None:
    head = "#include <math.h>\n#include <string.h>\n#include <assert.h>\n#define SQUARE(x) ((x) * (x))\n"
    reads = []
    for count in (20, 40):
        given = Unit("c", head + "".join(SWEEP.format(k) for k in range(count)))
        tokens_read = given.__dict__["tokens"] = _Counted(given.tokens)
        list(edits(given, inexact=True, names=[rule]))
        reads.append(tokens_read.reads)
    assert reads[1] <= 2.2 * reads[0]


# -------------------------------------------------------------------------------------------------------- reachable


@pytest.mark.heavy
def test_hundreds_of_programs_can_be_reached() -> None:
    found = list(reachable(text_of("stdio.cpp"), "cpp", steps=2, cap=250))
    assert len(found) == 250
    assert len({normalise("cpp", text) for _, text in found}) == 250
    assert [len(names) for names, _ in found] == sorted(len(names) for names, _ in found)


def test_what_can_be_reached_does_not_change_from_run_to_run() -> None:
    first = list(reachable(text_of("plain.c"), "c", steps=1))
    assert first == list(reachable(text_of("plain.c"), "c", steps=1))
    assert all(len(names) == 1 for names, _ in first)
