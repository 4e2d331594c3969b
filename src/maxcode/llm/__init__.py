"""Language models: clients, the journal of calls, prompts, and the reader of completions."""
