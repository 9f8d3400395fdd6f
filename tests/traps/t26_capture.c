/* While a stream is captured, the shim asks the runtime nothing: any call from any thread may invalidate the capture. Before
 * and after, an upload in a window is asked what memory it comes from. It never reads the program's last error. */
#include "trap.h"

int main(int argc, char **argv)
{
    (void)argc;
    trap_under_shim(argv, NULL);
    void *user = trap_open("lib_user13.so");
    int (*upload)(void *, const void *, size_t, int) =
        (int (*)(void *, const void *, size_t, int))trap_symbol(user, "user_copy_async_13");
    char from[8] = "bytes", to[8] = "";
    trap_window("window");
    ((int (*)(void))trap_symbol(user, "user_end_capture"))(); /* of no capture: must not make up for the next one */
    CHECK(((int (*)(void))trap_symbol(user, "user_begin_capture"))() == 0);
    upload(to, from, 8, 1);
    CHECK(trap_count("lib_cudart13.so", "trap_asks_13") == 0);
    CHECK(((int (*)(void))trap_symbol(user, "user_end_capture"))() == 0);
    upload(to, from, 8, 1);
    CHECK(trap_count("lib_cudart13.so", "trap_asks_13") == 1);
    trap_window(NULL);
    upload(to, from, 8, 1);
    CHECK(trap_count("lib_cudart13.so", "trap_asks_13") == 1);
    CHECK(trap_count("lib_cudart13.so", "trap_errors_read_13") == 0);
    return 0;
}
