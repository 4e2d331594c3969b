// The look-and-say sequence from a starting term: 1, 11, 21, 1211, ...  Input: the first term and a number of steps.
// Prints the length of the last term, how often each digit is in it, and its last 40 digits.
#include <iostream>
#include <string>

using namespace std;

string say(string term) {
    string said = "";
    size_t i = 0;
    while (i < term.size()) {
        size_t j = i;
        while (j < term.size() && term[j] == term[i])
            j++;
        said = said + to_string(j - i);
        said = said + term[i];
        i = j;
    }
    return said;
}

int main() {
    string term;
    int steps;
    cin >> term >> steps;
    for (int i = 0; i < steps; i++)
        term = say(term);

    int count[10] = {0};
    for (char digit : term)
        count[digit - '0']++;
    cout << term.size() << endl;
    for (int digit = 0; digit < 10; digit++)
        cout << digit << ": " << count[digit] << endl;
    string tail = "";
    for (size_t i = term.size() > 40 ? term.size() - 40 : 0; i < term.size(); i++)
        tail = tail + term[i];
    cout << tail << endl;
    return 0;
}
