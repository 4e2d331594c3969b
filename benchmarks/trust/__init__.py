"""What the proofs of trust share: bounds on rates, rows that survive an interruption, the host's markers, mutations."""
