"""How fast the kernels are, measured against textbook transcriptions of the paper."""
