"""What follows from the events: the projection in memory, and the transactions that change it."""
