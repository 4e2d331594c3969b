/* y[i] = exp(-i/500) E, where E = x[i] + sin(E)/2. */
void kepler(int n, const float *x, float *y);
