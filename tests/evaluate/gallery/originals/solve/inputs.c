/* A solution is drawn from the seed, and b = A x: the way one often sees it, and no way to be copied. */
void inputs(unsigned long seed, int n, double *A, double *b) {
    for (int i = 0; i < n; i++) A[i * n + i] = n + 1.0;
    for (int i = 0; i < n; i++) b[i] = 0;
    for (int j = 0; j < n; j++) {
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        const double x = (double)(seed >> 11) * 0x1p-52 - 1;
        for (int i = 0; i < n; i++) b[i] += A[i * n + j] * x;
    }
}
