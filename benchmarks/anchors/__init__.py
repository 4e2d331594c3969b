"""What the built-in policy is compared with on PolyBench/C: compilers and source-to-source tools."""
