/* y holds the n numbers of x in rising order. */
void sort64(int n, const long *x, long *y);
