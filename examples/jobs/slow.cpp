// A workshop does one job a day, always the most valuable of those that have come in (earlier deadline first, then by
// name) and are not overdue.  Input: n jobs "day deadline value name", days ascending.  Prints the jobs done and the total.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

using namespace std;

struct Job {
    int day, deadline, value;
    string name;
};

bool better(Job a, Job b) {
    if (a.value != b.value)
        return a.value > b.value;
    if (a.deadline != b.deadline)
        return a.deadline < b.deadline;
    return a.name < b.name;
}

int main() {
    int n;
    cin >> n;
    vector<Job> jobs(n);
    int last = 0;
    for (int i = 0; i < n; i++) {
        cin >> jobs[i].day >> jobs[i].deadline >> jobs[i].value >> jobs[i].name;
        last = max(last, jobs[i].deadline);
    }

    vector<Job> waiting;
    long long total = 0;
    int arrived = 0;
    for (int day = 1; day <= last; day++) {
        while (arrived < n && jobs[arrived].day <= day) {
            waiting.push_back(jobs[arrived]);
            arrived++;
        }
        sort(waiting.begin(), waiting.end(), better);
        while (!waiting.empty()) {
            Job job = waiting[0];
            waiting.erase(waiting.begin());
            if (job.deadline < day)
                continue;
            cout << day << " " << job.name << endl;
            total += job.value;
            break;
        }
    }
    cout << total << endl;
    return 0;
}
