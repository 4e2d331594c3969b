// Heat on an n x n plate after a number of explicit time steps; the border keeps its temperature.
// Input: n, steps, conductivity, then h hot spots "row column temperature".  Prints the mean of every row and the
// root mean square of the whole plate.
#include <cmath>
#include <cstdio>
#include <vector>

using namespace std;

typedef vector<vector<double>> Plate;

Plate step(Plate plate, double conductivity) {
    int n = plate.size();
    Plate next = plate;
    for (int column = 1; column < n - 1; column++) {
        for (int row = 1; row < n - 1; row++) {
            double around = plate[row - 1][column] + plate[row + 1][column] + plate[row][column - 1] + plate[row][column + 1];
            next[row][column] = plate[row][column] + conductivity * (around / 4.0 - plate[row][column]);
        }
    }
    return next;
}

double root_mean_square(const Plate& plate) {
    double sum = 0;
    for (size_t column = 0; column < plate.size(); column++)
        for (size_t row = 0; row < plate.size(); row++)
            sum += pow(plate[row][column], 2);
    return sqrt(sum / plate.size() / plate.size());
}

int main() {
    int n, steps, h;
    double conductivity;
    if (scanf("%d %d %lf %d", &n, &steps, &conductivity, &h) != 4)
        return 1;
    Plate plate(n, vector<double>(n, 20.0));
    for (int i = 0; i < h; i++) {
        int row, column;
        double temperature;
        if (scanf("%d %d %lf", &row, &column, &temperature) != 3)
            return 1;
        plate[row][column] = temperature;
    }
    for (int i = 0; i < steps; i++)
        plate = step(plate, conductivity);

    for (int row = 0; row < n; row++) {
        double sum = 0;
        for (int column = 0; column < n; column++)
            sum += plate[row][column];
        printf("%.9f\n", sum / n);
    }
    printf("%.9f\n", root_mean_square(plate));
    return 0;
}
