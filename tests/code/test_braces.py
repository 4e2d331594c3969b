"""Functions of Go, Rust, Java and JavaScript by their braces, and the function that a profile means."""

from __future__ import annotations

import time

import pytest

from maxcode.code.braces import braced
from maxcode.code.definitions import definitions, function_at, short_name

GO = """package p

type Value struct {
	at func(n int) int
}

func parse(s string) (any interface{}, err error) {
	if s[0] == '{' {
		return `}`, nil // {
	}
	each(func(n int) error {
		return nil
	})
	return map[string]struct{}{}, nil
}

func (o *Object) Get(key string) *Value { return o.at[key] }

func (v *Value) Get(keys ...string) *Value {
	return v
}
"""
RUST = """#[inline]
pub(crate) fn f<'a, T>(
    x: &'a [u8; 4],
) -> Option<T>
where
    T: Foo,
{
    while let Some(x) = it.next() {
        match foo(a) {
            '{' => r#"{"#,
        }
    }
}
pub struct S<T> {
    a: T,
}
"""
JAVA = """class A<T> extends B {
    @Override public int f(int a, List<T> b) throws X {
        synchronized (this) {
            return new Foo() {
                int g() { return '{'; }
            };
        }
    }
    A(int x) {
        super(x);
    }
}
"""
JAVASCRIPT = """class A {
  static parse(text, given = {}) {
    if (text) {
      return text.map((x) => {
        return /[{]/.test(x);
      });
    }
  }
}
const twice = (x) => {
  return `}`;
};
exports.run = function (a) {
  for (const q of a) {
  }
};
"""


def named(language: str, text: str) -> list[tuple[str, int, int]]:
    return [(one.name, one.first, one.last) for one in definitions(language, text)]


def test_braces_in_strings_and_characters_do_not_end_a_function() -> None:
    assert named("go", GO) == [("Value", 3, 5), ("parse", 7, 15), ("Get", 17, 17), ("Get", 19, 21)]
    assert named("rust", RUST) == [("f", 2, 13), ("S", 14, 16)]
    assert named("java", JAVA) == [("f", 2, 8), ("g", 5, 5), ("A", 9, 11)]
    assert named("javascript", JAVASCRIPT) == [("parse", 2, 8), ("twice", 10, 12), ("run", 13, 16)]


@pytest.mark.parametrize(
    ("name", "line", "wanted"),
    [
        ("p.(*Value).Get", 20, (19, 21)),
        ("p.(*Object).Get", 20, (17, 17)),  # of another program than the profile's: the type says it
        ("p.parse", 14, (7, 15)),
        ("p.parse.func1", 12, (7, 15)),
        ("p.elsewhere", 1, None),
    ],
)
def test_the_function_of_a_profile_is_found_by_its_name_or_its_line(
    name: str, line: int, wanted: tuple[int, int] | None
) -> None:
    found = function_at("go", GO, name, line)
    assert (found and (found.first, found.last)) == wanted


def test_a_name_is_short_without_packages_types_and_arguments() -> None:
    for name, wanted in (
        ("n::A::run(int) const", "run"), ("<T as I>::m", "m"), ("std::vector<int> f<int>(int)", "f"),
        ("p.Sum[go.shape.int]", "Sum"), ("A.f", "f"), ("(anonymous namespace)::f(int)", "f"), ("<lambda>", ""),
    ):  # fmt: skip
        assert short_name(name) == wanted, name


@pytest.mark.parametrize("language", ["go", "rust", "java", "javascript"])
def test_hostile_texts_are_read_in_time(language: str) -> None:
    parts = (
        "{",
        "function ",
        "(",
        "'",
        '"',
        "`",
        "/*",
        "/* ",
        "a = (",
        "f(a)\n",
        "pub ",
        'r#"',
        '"\\',
        "=/[",
        "`\\",
        "@a(\n",
    )
    began = time.process_time()
    for part in parts:
        braced(language, part * 20_000)
        braced(language, (part * (300 // len(part)) + "{}") * 50)
    assert time.process_time() - began < 10
