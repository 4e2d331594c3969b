// How values are passed, repeated and put together.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>
using namespace std;
typedef long long ll;
typedef vector<int> Numbers;

struct Point {
    string name;
    int x, y;
};

ll prime = 998244353;
int steps[] = {1, -1, 2, -2};
int weight[20], value[20], n;

int total(Numbers numbers, string);
bool before(Point a, Point b) { return a.x < b.x || (a.x == b.x && a.y < b.y); }
ll divisor(ll a, ll b) { return b == 0 ? a : divisor(b, a % b); }
int divisor_by_loop(int a, int b) {
    while (b) {
        int t = a % b;
        a = b;
        b = t;
    }
    return a;
}
int best(int i, int room) {
    if (i == n) return 0;
    int result = best(i + 1, room);
    if (weight[i] <= room) result = max(result, value[i] + best(i + 1, room - weight[i]));
    return result;
}
ll power(ll base, ll exponent, ll m) {
    ll result = 1;
    for (; exponent > 0; exponent /= 2, base = base * base % m)
        if (exponent % 2 == 1) result = result * base % m;
    return result;
}
int total(Numbers numbers, string name) {
    int sum = name.size();
    for (size_t i = 0; i < numbers.size(); i++) sum += numbers[i];
    return sum;
}

int main() {
    int room;
    cin >> n >> room;
    vector<Point> points;
    Numbers numbers;
    for (int i = 0; i < n; i++) {
        cin >> weight[i] >> value[i];
        points.push_back({"p" + to_string(i), weight[i], value[i]});
        numbers.push_back(value[i]);
    }
    sort(points.begin(), points.end(), before);
    string text = "", copy;
    for (auto point : points) {
        text = text + point.name + '-';
        copy = copy + to_string(point.x);
    }
    int matches = 0;
    for (size_t i = 0; i + 2 <= text.size(); i++)
        if (text.substr(i, 2) == "p1" || text.substr(i) != "-") matches++;
    function<ll(int, int)> ways = [&](int i, int j) {
        if (i == 0 || j == 0) return 1LL;
        return (ways(i - 1, j) + ways(i, j - 1)) % prime;
    };
    function<int(int)> depth = [&](int k) -> int { return k < 2 ? k : depth(k / 2) + 1; };
    cout << text << copy << matches << ' ' << total(numbers, "sum") << ' ' << best(0, room) << '\n';
    cout << divisor(84, -36) << divisor(84, 36) << divisor_by_loop(-12, 18) << divisor(0, 5) << __gcd(12, 42) << '\n';
    cout << power(3, 1000, prime) << ' ' << ways(6, 5) << depth(1000) << steps[n % 4] << '\n';
    cout << (ll)pow(7, n) << ' ' << pow(2, 70) << ' ' << pow(2, -1) << ' ' << pow(1.5, 2) << '\n';
    return 0;
}
