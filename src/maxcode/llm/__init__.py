"""Language models: clients, the journal of calls, prompts, and how an answer becomes a program."""
