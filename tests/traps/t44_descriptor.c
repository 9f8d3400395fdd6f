/* The shim's descriptor may be closed and its number used again by the program, as daemons do: the other file keeps its size
 * and the program lives, whatever is still recorded. */
#include "trap.h"

#include <sys/stat.h>

/* The descriptor of the trace of this process. */
static int find_descriptor(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        char link[64], target[PATH_MAX] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, target, sizeof target - 1) > 0 && strstr(target, HW_TRACE_SUFFIX))
            return fd;
    }
    return -1;
}

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, NULL);
    void *user = trap_open("lib_user13.so");
    int (*copy)(void *, const void *, size_t, int) =
        (int (*)(void *, const void *, size_t, int))trap_symbol(user, "user_copy_13");
    char from[8] = "bytes", to[8] = "";
    copy(to, from, 8, 2);
    int trace = find_descriptor(), mine = open("mine", O_RDWR | O_CREAT, 0600);
    CHECK(trace >= 512 && write(mine, "my bytes", 8) == 8 && dup2(mine, trace) == trace);
    for (int i = 0; i < 2000; i++) { /* more records than the file has room for */
        char name[32];
        snprintf(name, sizeof name, "window %d", i);
        trap_window(name);
        CHECK(copy(to, from, 8, 2) == 13);
        trap_window(NULL);
    }
    struct stat st;
    CHECK(fstat(mine, &st) == 0 && st.st_size == 8);
    pid_t child = fork();
    if (child == 0)
        _exit(write(trace, "more", 4) == 4 ? 0 : 1); /* nobody closed it */
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    struct hw_trace_view view;
    CHECK(trap_trace(getpid(), &view) && (view.header.coverage & HW_COVERAGE_TRACE_FULL));
    return 0;
}
