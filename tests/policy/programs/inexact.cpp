// Floating point where the last digits may change.
#include <cmath>
#include <cstdio>
#include <vector>
using namespace std;

double dot(const vector<double>& x, const vector<double>& y) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); i++) sum += x[i] * y[i];
    return sum;
}

int main() {
    int n;
    scanf("%d", &n);
    vector<double> x(n), y(n);
    for (int i = 0; i < n; i++) {
        x[i] = 1.0 / (i + 1);
        y[i] = pow(x[i] + 0.1, 3) + pow(i, 5);
    }
    float total = 0;
    for (int i = 0; i < n; i++) total += 0.5f * i;
    printf("%.6f %.6f\n", dot(x, y), total);
}
