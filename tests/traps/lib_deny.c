/* A kernel that refuses to read memory by process_vm_readv, as some containers do. */
#include <errno.h>
#include <stddef.h>

long process_vm_readv(int pid, const void *local, unsigned long locals, const void *remote, unsigned long remotes,
                      unsigned long flags);
long process_vm_readv(int pid, const void *local, unsigned long locals, const void *remote, unsigned long remotes,
                      unsigned long flags)
{
    (void)pid, (void)local, (void)locals, (void)remote, (void)remotes, (void)flags;
    errno = EPERM;
    return -1;
}
