void alike(int n, const int *x, const int *y, int *same);
