/* y[i] is how many steps of 3x+1 lead from |x[i]| to 1, wherever no step overflows. */
void collatz(int n, const int *x, int *y);
