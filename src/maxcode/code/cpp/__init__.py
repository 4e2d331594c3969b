"""The reader of C and C++ for the rules: declarations, effects, macro expansion, edits."""
