/* Wants to find on its second run what it left on its first; prints "remembered" if it can. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static int in_file(const char *path) {
    char note[5] = "";
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    if (fd < 0) return 0;
    int there = read(fd, note, 4) == 4 && !strcmp(note, "note");
    return there || (write(fd, "note", 4) < 0 && 0);
}

static int in_shared_memory(void) {
    int id = shmget(0x6e6f7465, 4096, IPC_CREAT | 0666);
    char *page = id < 0 ? (char *)-1 : shmat(id, NULL, 0);
    if (page == (char *)-1) return 0;
    int there = !strcmp(page, "note");
    strcpy(page, "note");
    return there;
}

static int in_inode(int fd) {
    struct stat about;
    char note[5] = "";
    if (fstat(fd, &about)) return 0;
    int there = about.st_mtime == 12345 || (about.st_mode & 0777) == 0751 || fgetxattr(fd, "user.n", note, 4) == 4;
    struct timespec times[2] = {{12345, 0}, {12345, 0}};
    futimens(fd, times);
    fchmod(fd, 0751);
    fsetxattr(fd, "user.n", "note", 4, 0);
    return there;
}

static int in_offset(int fd) {
    int there = lseek(fd, 0, SEEK_CUR) == 3;
    lseek(fd, 3, SEEK_SET);
    return there;
}

int main(void) {
    const char *paths[] = {"/tmp/note", "/dev/shm/note", "/var/tmp/note", "/run/note", "note", "/note", "/usr/note"};
    int remembered = in_shared_memory() + in_offset(0) + in_inode(0) + in_inode(open("/proc/self/exe", O_RDONLY));
    for (unsigned i = 0; i < sizeof paths / sizeof paths[0]; i++) remembered += in_file(paths[i]);
    puts(remembered ? "remembered" : "nothing");
    return 0;
}
