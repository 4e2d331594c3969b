// Gravity between n bodies: reads n, the number of steps and the step, then for each body its mass, position and speed.
// Moves them step by step and prints where they are in the end, and the energy of the whole.
#include <cmath>
#include <cstdio>
#include <vector>

using namespace std;

struct Body {
    double mass;
    double at[3];
    double speed[3];
};

const double SOFTENING = 0.05;

double distance(Body a, Body b) {
    double sum = 0;
    for (int axis = 0; axis < 3; axis++)
        sum += pow(a.at[axis] - b.at[axis], 2);
    return sqrt(sum + pow(SOFTENING, 2));
}

vector<double> pull(vector<Body> bodies, int on) {
    vector<double> total(3, 0.0);
    for (size_t i = 0; i < bodies.size(); i++) {
        if ((int)i == on)
            continue;
        for (int axis = 0; axis < 3; axis++) {
            double apart = bodies[i].at[axis] - bodies[on].at[axis];
            total[axis] += bodies[i].mass * apart / pow(distance(bodies[i], bodies[on]), 3);
        }
    }
    return total;
}

double energy(const vector<Body>& bodies) {
    double sum = 0;
    for (size_t i = 0; i < bodies.size(); i++) {
        for (int axis = 0; axis < 3; axis++)
            sum += bodies[i].mass * pow(bodies[i].speed[axis], 2) / 2;
        for (size_t j = 0; j < i; j++)
            sum -= bodies[i].mass * bodies[j].mass / distance(bodies[i], bodies[j]);
    }
    return sum;
}

int main() {
    int n, steps;
    double dt;
    if (scanf("%d %d %lf", &n, &steps, &dt) != 3)
        return 1;
    vector<Body> bodies(n);
    for (int i = 0; i < n; i++) {
        Body& b = bodies[i];
        if (scanf("%lf %lf %lf %lf %lf %lf %lf", &b.mass, &b.at[0], &b.at[1], &b.at[2], &b.speed[0], &b.speed[1], &b.speed[2]) != 7)
            return 1;
    }
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < n; i++) {
            vector<double> force = pull(bodies, i);
            for (int axis = 0; axis < 3; axis++)
                bodies[i].speed[axis] += force[axis] * dt;
        }
        for (int i = 0; i < n; i++)
            for (int axis = 0; axis < 3; axis++)
                bodies[i].at[axis] += bodies[i].speed[axis] * dt;
    }
    for (int i = 0; i < n; i++)
        printf("%.6f %.6f %.6f\n", bodies[i].at[0], bodies[i].at[1], bodies[i].at[2]);
    printf("%.6f\n", energy(bodies));
    return 0;
}
