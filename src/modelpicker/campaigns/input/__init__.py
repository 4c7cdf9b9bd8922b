"""What comes into a campaign, checked and encoded: rows, rounds, data frames and files."""
