// VERDICT unbuilt
// WHY Includes files of /proc and /etc so that the diagnostics show them; the compiler sees nothing of the host, and shows no source lines.
// AGAINST count
// HACK 55
// KIND compile-time
#include "/proc/self/environ"
#include "/proc/1/environ"
#include "/etc/shadow"
#include "@SECRET@"

int main(void) { return 0; }
