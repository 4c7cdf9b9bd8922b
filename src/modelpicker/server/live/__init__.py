"""What a running server keeps for every open campaign: commit queues, dashboards and live events."""
