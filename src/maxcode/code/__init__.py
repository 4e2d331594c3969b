"""Reads programs as text: languages, parsing, expressions, techniques, and a reader of C and C++.  It runs nothing."""
