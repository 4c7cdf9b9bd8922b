"""What proves things at run time: evidence, bets, certificates, and the rules that stop a run."""
