/* Reads what it is given: arguments, variables, the files beside it.  Then it tries to leave a note in one of them, and
 * prints all that can be seen of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static void show(const char *path) {
    char text[64];
    FILE *file = fopen(path, "r");
    if (!file) exit(9);
    while (fgets(text, sizeof text, file)) fputs(text, stdout);
    fclose(file);
}

static void tried(const char *what, long result) {
    if (result >= 0) printf("it could %s\n", what);
}

int main(int count, char **words) {
    struct stat about;
    const struct timespec times[2] = {{7, 0}, {7, 0}};
    const struct flock lock = {.l_type = F_RDLCK};
    for (int i = 0; i < count; i++) printf("%s\n", words[i]);
    printf("%s\n", getenv("GREETING") ? getenv("GREETING") : "nothing");
    show("data.txt"), show("more/data.txt");
    const int read = open("data.txt", O_RDONLY);
    tried("open it to write", open("data.txt", O_RDWR));
    tried("empty it", open("data.txt", O_WRONLY | O_TRUNC));
    tried("truncate it", truncate("data.txt", 0));
    tried("make a file", open("note.txt", O_CREAT | O_WRONLY, 0600));
    tried("make a folder", mkdir("note", 0700));
    tried("remove it", unlink("data.txt"));
    tried("rename it", rename("data.txt", "other.txt"));
    tried("link it", link("data.txt", "more/other.txt"));
    tried("change its rights", chmod("data.txt", 0777));
    tried("change the folder's rights", chmod(".", 0777));
    tried("change its times", utimensat(AT_FDCWD, "data.txt", times, 0));
    tried("change its times to now", futimens(read, NULL));
    tried("keep an attribute", setxattr("data.txt", "user.note", "1", 1, 0));
    tried("keep an attribute by descriptor", fsetxattr(read, "user.note", "1", 1, 0));
    if (count > 1 && words[1][0] == 'b') tried("lock it", flock(read, LOCK_EX | LOCK_NB)), tried("lock a part", fcntl(read, F_SETLK, &lock));
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, read, 0);
    tried("map it to write", map == MAP_FAILED ? -1 : 0);
    if (fstat(read, &about)) return 8;
    printf("%ld bytes, %ld %ld, %ld %ld, %ld links, mode %o\n", (long)about.st_size, (long)about.st_atim.tv_sec,
           about.st_atim.tv_nsec, (long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec, (long)about.st_nlink, about.st_mode);
    if (stat(".", &about)) return 7;
    printf("%ld %ld\n", (long)about.st_atim.tv_sec, about.st_atim.tv_nsec);
    return 0;
}
