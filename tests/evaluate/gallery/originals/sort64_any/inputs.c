/* Numbers of the whole range. */
void inputs(unsigned long seed, int n, long *x) {
    for (int i = 0; i < n; i++) {
        unsigned long z = seed += 0x9e3779b97f4a7c15ul;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
        z = (z ^ z >> 27) * 0x94d049bb133111ebul;
        x[i] = (long)(z ^ z >> 31);
    }
}
