"""What follows from the events: the projection in memory, the transactions that change it, and pacing."""
