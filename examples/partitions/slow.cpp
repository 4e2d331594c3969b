// For each of t questions "n k": in how many ways can n coins be put into piles of at most k coins?
// The order of the piles does not matter.
#include <iostream>

using namespace std;

long long ways(int coins, int largest) {
    if (coins == 0)
        return 1;
    if (coins < 0 || largest == 0)
        return 0;
    return ways(coins - largest, largest) + ways(coins, largest - 1);
}

int main() {
    int t;
    cin >> t;
    for (int i = 0; i < t; i++) {
        int n, k;
        cin >> n >> k;
        cout << ways(n, k) << endl;
    }
    return 0;
}
