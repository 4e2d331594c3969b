/* Chains the n numbers of x by their hash: head[s] is the last i in slot s of m, next[i] the one before; -1: none. */
void heads(int m, int n, const int *x, int *head, int *next);
