"""What other tools write and run: one file per tool, which imports the tool's library only when it is used."""
