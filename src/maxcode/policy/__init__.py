"""Who proposes: the built-in rewriter here, others beside it.  Each policy is pure in the observation."""
