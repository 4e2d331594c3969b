"""Policies: language models (``llm``) and built-in rules (``rules``).  A policy is pure in the observation."""
