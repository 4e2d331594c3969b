"""Other tools driven side by side with maxcode, and what that takes: an endpoint, a scorer, a look at processes."""
