"""What the verbs share: options, prompts, tables and how collections are read."""
