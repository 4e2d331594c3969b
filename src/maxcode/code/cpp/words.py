"""Lists of keywords and functions of C and C++ for the rules."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a line, as a set."""
    return frozenset(text.split())


KEYWORDS = words(
    "if for while do switch return sizeof alignof else case default break continue goto new delete throw catch try "
    "using namespace typedef struct class enum union template typename public private protected operator const "
    "constexpr static inline extern volatile mutable register signed unsigned void true false nullptr this and or "
    "not static_cast const_cast reinterpret_cast dynamic_cast decltype noexcept explicit friend virtual"
)
CASTS = words(
    "int long short char bool double float unsigned size_t ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t "
    "uint32_t uint64_t ptrdiff_t string vector pair tuple set map queue deque stack static_cast"
)
PURE = words(
    "min max abs labs llabs fabs fabsl fabsf sqrt sqrtl sqrtf cbrt floor floorl ceil ceill round trunc pow powl exp "
    "log log2 log10 sin cos tan atan atan2 hypot fmod strlen strcmp strncmp __gcd gcd lcm isdigit isalpha isupper "
    "islower isalnum isspace tolower toupper make_pair make_tuple __builtin_popcount __builtin_popcountll "
    "__builtin_ctz __builtin_ctzll __builtin_clz __builtin_clzll __builtin_expect"
)
HARMLESS = PURE | words("printf puts putchar fprintf assert exit to_string stoi stoll get accumulate")
READING = words(
    "size length empty count find at front back top substr c_str data capacity compare first second begin end rbegin "
    "rend cbegin cend lower_bound upper_bound to_string to_ullong test all any none real imag max_size contains"
)
TAKING = words(
    "swap merge splice read get getline readsome copy sgetn extract compare_exchange_strong compare_exchange_weak"
)  # methods that change an argument
PRINTS = words("cout cerr clog printf fprintf puts putchar fputs write")
ASSIGN = words("= += -= *= /= %= &= |= ^= <<= >>=")
ITERATORS = words("begin end rbegin rend cbegin cend find lower_bound upper_bound data")
