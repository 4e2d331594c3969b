// A directed graph of n nodes and m edges: the number of walks of exactly k edges from 1 to every node, modulo 2^64.
// The k-th power of the adjacency matrix, by squaring.
#include <iostream>
#include <vector>

using namespace std;

typedef unsigned long long u64;
typedef vector<vector<u64>> Matrix;

Matrix multiply(const Matrix& a, const Matrix& b) {
    int n = a.size();
    Matrix c(n, vector<u64>(n, 0));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    return c;
}

int main() {
    int n, m;
    long long k;
    cin >> n >> m >> k;
    Matrix graph(n, vector<u64>(n, 0));
    for (int i = 0; i < m; i++) {
        int from, to;
        cin >> from >> to;
        graph[from - 1][to - 1]++;
    }

    Matrix result(n, vector<u64>(n, 0));
    for (int i = 0; i < n; i++)
        result[i][i] = 1;
    while (k > 0) {
        if (k % 2 == 1)
            result = multiply(result, graph);
        graph = multiply(graph, graph);
        k /= 2;
    }

    for (int i = 0; i < n; i++)
        cout << result[0][i] << (i + 1 < n ? " " : "\n");
    return 0;
}
