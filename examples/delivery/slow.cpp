// A delivery service: n towns, m roads "town town minutes" (both ways), q orders "from to limit".
// For each order prints the fastest route, its minutes, and whether it keeps the limit; at the end the busiest town.
#include <algorithm>
#include <climits>
#include <iostream>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <vector>

using namespace std;

struct Road {
    int to;
    int minutes;
};

struct Route {
    long long minutes;
    vector<int> towns;
};

map<string, int> ids;
vector<string> names;

int id_of(string name) {
    if (ids.find(name) == ids.end()) {
        ids[name] = names.size();
        names.push_back(name);
    }
    return ids[name];
}

Route fastest(vector<vector<Road>> roads, int from, int to) {
    int n = roads.size();
    vector<long long> best(n, LLONG_MAX);
    vector<int> came_from(n, -1);
    set<pair<long long, int>> open;
    best[from] = 0;
    open.insert(make_pair(0LL, from));
    while (!open.empty()) {
        pair<long long, int> top = *open.begin();
        open.erase(open.begin());
        int town = top.second;
        for (auto road : roads[town]) {
            long long minutes = best[town] + road.minutes;
            if (minutes < best[road.to] || (minutes == best[road.to] && town < came_from[road.to])) {
                if (best[road.to] != LLONG_MAX)
                    open.erase(make_pair(best[road.to], road.to));
                best[road.to] = minutes;
                came_from[road.to] = town;
                open.insert(make_pair(minutes, road.to));
            }
        }
    }
    Route route;
    route.minutes = best[to];
    if (best[to] == LLONG_MAX)
        return route;
    for (int town = to; town != -1; town = came_from[town])
        route.towns.insert(route.towns.begin(), town);
    return route;
}

string describe(Route route) {
    string text = "";
    for (size_t i = 0; i < route.towns.size(); i++) {
        if (i > 0)
            text = text + " > ";
        text = text + names[route.towns[i]];
    }
    return text;
}

int main() {
    int n, m, q;
    cin >> n >> m >> q;
    vector<vector<Road>> roads(n);
    for (int i = 0; i < m; i++) {
        string a, b;
        int minutes;
        cin >> a >> b >> minutes;
        int from = id_of(a), to = id_of(b);
        roads[from].push_back({to, minutes});
        roads[to].push_back({from, minutes});
    }

    map<string, int> visits;
    for (int i = 0; i < q; i++) {
        string a, b;
        long long limit;
        cin >> a >> b >> limit;
        Route route = fastest(roads, id_of(a), id_of(b));
        if (route.towns.empty()) {
            cout << a << " and " << b << " are not connected" << endl;
            continue;
        }
        for (auto town : route.towns)
            visits[names[town]]++;
        string verdict = route.minutes <= limit ? "in time" : "late";
        cout << describe(route) << " (" << route.minutes << " minutes, " << verdict << ")" << endl;
    }

    string busiest = "";
    for (auto entry : visits)
        if (busiest == "" || entry.second > visits[busiest])
            busiest = entry.first;
    if (busiest != "")
        cout << "busiest: " << busiest << " " << visits[busiest] << endl;
    return 0;
}
