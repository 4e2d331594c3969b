// A sensor sends n readings x' = (a * x + b) mod m, each reduced to a key below k; a key seen before is a repeat.
// Prints the number of distinct keys, the number of repeats, and the longest gap between two equal keys.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>

using namespace std;

int main() {
    int n;
    long long x, a, b, m, k;
    cin >> n >> x >> a >> b >> m >> k;

    map<long long, int> seen;       // how often a key came
    map<long long, int> last;       // where it came last
    set<long long> repeated;
    int repeats = 0;
    int longest = 0;
    for (int i = 0; i < n; i++) {
        x = (a * x + b) % m;
        long long key = x % k * 7919;
        if (seen.count(key) > 0) {
            repeats++;
            longest = max(longest, i - last[key]);
            repeated.insert(key);
        }
        seen[key]++;
        last[key] = i;
    }
    cout << seen.size() << " " << repeats << " " << repeated.size() << " " << longest << endl;
    return 0;
}
