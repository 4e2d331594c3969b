/* y[i] is the integer part of the square root of |x[i]|; x[i] is any int. */
void steps(int n, const int *x, int *y);
