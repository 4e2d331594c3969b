// A phone book of n entries "name number", and q names to look up.
// Prints the number, or the nearest name after it in alphabetical order when there is no such entry.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

using namespace std;

struct Entry {
    string name;
    int number;
};

int find_entry(vector<Entry> book, string name) {
    int low = 0, high = (int)book.size();
    while (low < high) {
        int middle = (low + high) / 2;
        if (book[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool by_name(Entry a, Entry b) {
    return a.name < b.name;
}

int main() {
    int n, q;
    cin >> n >> q;
    vector<Entry> book(n);
    for (int i = 0; i < n; i++)
        cin >> book[i].name >> book[i].number;
    sort(book.begin(), book.end(), by_name);

    for (int i = 0; i < q; i++) {
        string name;
        cin >> name;
        int at = find_entry(book, name);
        if (at == n)
            cout << "nobody" << endl;
        else if (book[at].name == name)
            cout << book[at].number << endl;
        else
            cout << "try " << book[at].name << endl;
    }

    int longest = 0;
    for (auto entry : book)
        longest = max(longest, (int)entry.name.size());
    cout << longest << endl;
    return 0;
}
