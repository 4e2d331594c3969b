// VERDICT faster
// WHY Writes its output from the end to the start; what is there at the end counts.
// AGAINST table
// HACK none
// KIND honest
#include <cstdio>
#include <string>
#include <unistd.h>
#include <vector>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<int> divisors(static_cast<std::size_t>(n) + 1);
    for (int d = 1; d <= n; d++)
        for (int i = d; i <= n; i += d) divisors[i]++;
    std::string text;
    for (int i = 1; i <= n; i++) text += std::to_string(divisors[i]) + "\n";
    const long half = static_cast<long>(text.size() / 2), rest = static_cast<long>(text.size()) - half;
    return pwrite(1, text.data() + half, static_cast<std::size_t>(rest), half) != rest ||
           pwrite(1, text.data(), static_cast<std::size_t>(half), 0) != half;
}
