// One of each container, used in ways that allow another one.
#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <queue>
#include <set>
#include <stack>
#include <string>
#include <unordered_map>
#include <vector>
using namespace std;
#define all(v) (v).begin(), (v).end()
typedef long long ll;
typedef pair<int, int> pii;

struct Item {
    int weight;
    string name;
};
bool lighter(const Item& a, const Item& b) { return a.weight < b.weight || (a.weight == b.weight && a.name < b.name); }

map<string, int> ids;
map<ll, int> seen;
map<int, ll> buckets[3];

int main() {
    int n;
    cin >> n;
    set<int> values, walked;
    multiset<int> many;
    unordered_map<int, int> counts;
    set<pii> pairs;
    map<int, int> dense;
    deque<int> window;
    queue<pii> line;
    stack<string> words;
    priority_queue<int> largest;
    priority_queue<pii, vector<pii>, greater<pii>> nearest;
    vector<Item> items;
    vector<pii> points;
    vector<int> numbers;
    vector<bool> flags(n, false);
    vector<vector<bool>> rows(2, vector<bool>(n, true));
    rows.push_back(std::vector<bool>(1, false));
    cout << rows.size() << rows[2][0] << "\n";
    vector<vector<int>> table(n, vector<int>(n + 1, 2));
    string text;
    for (int i = 0; i < n; i++) {
        int x;
        cin >> x;
        string word = "w" + to_string(x % 7);
        ids[word]++;
        seen[x] = i;
        buckets[(x % 3 + 3) % 3][x] += i;
        values.insert(x);
        walked.insert(x % 5);
        many.insert(x);
        counts[x % 4]++;
        pairs.insert(make_pair(x, i % 2));
        dense[x] += x;
        if (dense.count(x - 1)) dense.erase(x - 1);
        window.push_back(x);
        if (window.size() > 4) window.pop_front();
        line.push(make_pair(i, x));
        words.push(word);
        largest.push(x);
        nearest.push(pii(x, i));
        items.push_back({x % 10, word});
        points.push_back(make_pair(x % 6, -i));
        numbers.push_back(x);
        flags[i] = x % 2 == 0;
        table[i][i + 1] = x;
    }
    for (int i = 0; i < n; i++) text += char('a' + i % 26);
    auto it = lower_bound(values.begin(), values.end(), 3);
    if (it != values.end()) cout << *it << '\n';
    auto up = std::upper_bound(many.begin(), many.end(), 2);
    cout << (up == many.end() ? -1 : *up) << ' ' << *values.rbegin() << '\n';
    for (int x : walked) cout << x << ' ';
    cout << ids["w1"] << ids.count("w9") << ids.size() << seen[3] << seen.size() << buckets[0].size() << pairs.size() << '\n';
    auto found = seen.find(2);
    if (found != seen.end()) cout << found->first << found->second << '\n';
    seen.erase(2);
    cout << seen.count(2) << counts[1] << dense.size() << dense[100000000] << dense[-7] << pairs.count(pii(3, 1)) << '\n';
    cout << window.front() << window.back() << window[1] << ' ' << line.front().second << line.size() << words.top() << '\n';
    while (!nearest.empty()) {
        cout << nearest.top().second << ',' << largest.top() << ' ';
        nearest.pop();
        largest.pop();
    }
    sort(items.begin(), items.end(), lighter);
    sort(all(points));
    sort(numbers.begin(), numbers.end(), greater<int>());
    for (int i = 0; i < n; i++) cout << items[i].name << points[i].second << numbers[i] << flags[i] << table[i][i + 1] << table[i][0] << ' ';
    cout << text << '\n';
    return 0;
}
