"""Reads programs as text: languages, parsing, C expressions, techniques, and one reader of C and C++. Runs nothing."""
