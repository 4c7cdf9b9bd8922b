"""What can be promised: the paper's theorems as functions, and certificates that hold at any moment."""
