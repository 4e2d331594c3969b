"""The programs of rules_hold.py."""
