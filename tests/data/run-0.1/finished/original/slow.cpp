#include <cstdio>
#include <string>
#include <vector>

int main() {
    int n = 0;
    if (scanf("%d", &n) != 1) return 1;
    std::vector<std::string> words;
    long long total = 0;
    for (int i = 0; i < n; i++) {
        char word[32];
        snprintf(word, sizeof word, "w%d", (i * 7919) % 1000);
        bool seen = false;
        for (auto other : words)
            if (other == word) seen = true;
        if (!seen) words.push_back(word);
        total += words.size();
    }
    printf("%lld %zu\n", total, words.size());
}
