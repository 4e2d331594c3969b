/* One sweep of a seven-point stencil over an n x n x n grid; the boundary is copied. */
void stencil(int n, const double *in, double *out);
