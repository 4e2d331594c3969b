/* Y[i] = X[i] + ... + X[i + w - 1] for i < n; X holds n + w numbers. */
void window(int n, int w, const double *X, double *Y);
