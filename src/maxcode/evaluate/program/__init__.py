"""Whole programs as candidates: admission, evaluation, and the checks that find implausible results."""
