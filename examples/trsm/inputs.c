/* A diagonal that dominates its row, so that the system is well conditioned. */
void inputs(unsigned long seed, int n, int m, double *L, double *B) {
    (void)seed, (void)m, (void)B;
    for (int i = 0; i < n; i++) L[i * n + i] = 2.0 + n / 8.0 + L[i * n + i];
}
