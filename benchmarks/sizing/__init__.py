"""How long a run takes on so many slots: costs from recorded runs, a discrete-event model of search and of GRPO."""
