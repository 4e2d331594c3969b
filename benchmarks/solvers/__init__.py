"""Parts of algotune.py."""
