// A meter gave n readings; each of q queries "l r" (1-based) asks for the sum of readings l to r.
// Prints every sum, and at the end the largest of them (0 when all are negative).
#include <algorithm>
#include <iostream>
#include <vector>

using namespace std;

int main() {
    int n, q;
    cin >> n >> q;
    vector<long long> prefix(n + 1, 0);
    for (int i = 1; i <= n; i++) {
        int x;
        cin >> x;
        prefix[i] = prefix[i - 1] + x;
    }
    long long best = 0;
    for (int i = 0; i < q; i++) {
        int l, r;
        cin >> l >> r;
        long long sum = prefix[r] - prefix[l - 1];
        best = max(best, sum);
        cout << sum << endl;
    }
    cout << "max " << best << endl;
    return 0;
}
