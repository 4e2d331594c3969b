"""Programs and prompts that the tests of the endpoint share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import openai

from maxcode.serve import Serving

READS = """#include <iostream>
#include <map>
#include <vector>
using namespace std;
map<int, int> seen;
int main() {
    int n;
    cin >> n;
    vector<int> all;
    for (int i = 0; i < n; i++) {
        int value;
        cin >> value;
        all.push_back(value);
    }
    for (int i = 0; i < n; i++) {
        seen[all[i] % 7]++;
        cout << seen.size() << endl;
    }
}
"""

PRODUCT = """void product(int n, const double *a, const double *b, double *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            c[i * n + j] = 0.0;
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
        }
}
"""

SORTS = '''"""Sort the words of a file."""
import sys


# EVOLVE-BLOCK-START
def ordered(words):
    found = []
    for word in words:
        at = 0
        while at < len(found) and found[at] < word:
            at += 1
        found.insert(at, word)
    return found
# EVOLVE-BLOCK-END


if __name__ == "__main__":
    print("\\n".join(ordered(sys.stdin.read().split())))
'''

WANTS_EDITS = """Answer with blocks of this form, as many as you like:

<<<<<<< SEARCH
old lines
=======
new lines
>>>>>>> REPLACE
"""
WANTS_WHOLE = "Give the whole new program.\n\n```cpp\n// the new program goes here\n```\n"


def evolving(program: str, tag: str, task: str) -> str:
    """A prompt in the shape that evolutionary tools use: numbers, history, other programs, the program, the task."""
    return f"""# Current Program Information
- Fitness: 0.8312
- Focus areas: speed

## Last Execution Output

### stderr
```
warning: the clock moved
```

# Program Evolution History

## Previous Attempts

### Attempt 3
- Changes: Change 1: Replace 3 lines with 9 lines

## Top Performing Programs

### Program 1 (Score: 0.9000)
```{tag}
{program}{program}
{"// another, longer program" if tag == "cpp" else "# another, longer program"}
```
Key features: it is long

# Current Program
```{tag}
{program}
```

# Task
Make it faster.

{task}"""


@contextmanager
def client(running: Serving, timeout: float = 30.0) -> Iterator[openai.OpenAI]:
    """OpenAI's client, without its retries: what a test sees is what was sent."""
    with openai.OpenAI(base_url=running.base_url, api_key="none", max_retries=0, timeout=timeout) as made:
        yield made


def ask(made: openai.OpenAI, prompt: str, model: str = "maxcode-rewriter", seed: int | None = 1) -> str:
    """The text of one completion."""
    told = made.chat.completions.create(model=model, messages=[{"role": "user", "content": prompt}], seed=seed)
    return told.choices[0].message.content or ""
