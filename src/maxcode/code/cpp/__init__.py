"""The reader of C and C++ that the rules use: declarations, effects, macro expansion, edits."""
