"""What kernels are built from: arithmetic with the same bits at both speeds, coins in bulk, the compiler."""
