/* *count is how many different numbers x holds. */
void distinct(int n, const double *x, int *count);
