// Reads with the C++ streams in every way the reader knows; the names are not ASCII: é, ü, 雪.
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <limits>
#include <string>
using namespace std;
#define show(x) cout << #x << " = " << (x) << endl
enum Colour { RED, GREEN = 7 };

int main() {
    ios_base::sync_with_stdio(true);
    int n;
    cin >> n;
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        long long x;
        cin >> x;
        sum += x;
    }
    show(sum);
    unsigned u;
    short s;
    bool b;
    char c, word[32];
    double d;
    float f;
    string name, line;
    cin >> u >> s >> b >> c >> d >> f >> name >> word;
    std::cout << "é" << u << ' ' << s << ' ' << b << c << std::endl;
    cout << d << " " << f << " " << d / 3 << " " << 1e20 * d << " " << -0.0 << endl;
    cout << name << "|" << word << "|" << GREEN << "|" << (unsigned char)'z' << "|" << int8_t('q') << endl;
    cin.ignore(numeric_limits<streamsize>::max(), '\n');
    getline(cin, line);
    cout << line.size() << ':' << line << endl;
    std::getline(std::cin, line, ';');
    cout << line << endl;
    cin.get();
    while (cin.peek() == ' ') cin.get(c);
    cin >> ws >> n;
    cout << fixed << setprecision(3) << d << ' ' << f << ' ' << 2.0L / 3 << endl;
    cout.precision(1);
    cout << d << "\n";
    long long big;
    cin >> big;
    cout << big << " " << (cin.fail() ? "failed" : "read") << endl;
    cin.clear();
    int wrong = 5;
    while (cin >> n) sum += n;
    cout << sum << " " << n << cin.eof() << !cin << endl;
    cin.clear();
    if (!(cin >> wrong)) cout << "end " << wrong << endl;
    cin.clear();
    cin.exceptions(cin.failbit);
    try {
        cin >> wrong;
    } catch (const ios_base::failure&) {
        cout << "caught" << endl;
    }
    return 0;
}
