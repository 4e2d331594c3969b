"""What the comparisons of learning share: cells that resume, uses of measurements, a last race, generated kernels."""
