/* y[i] is x[i], any int, after 64 rounds of a hash that wraps at 32 bits. */
void mix(int n, const int *x, int *y);
