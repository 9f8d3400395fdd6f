/* A plugin that needs runtime MAJOR, as a framework's extension does. */
#include <stddef.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

int cudaMemcpyAsync(void *dst, const void *src, size_t count, int direction, void *stream);
int cudaMemcpy(void *dst, const void *src, size_t count, int direction);
int cudaStreamSynchronize(void *stream);

int JOIN(user_copy_, MAJOR)(void *dst, const void *src, size_t count, int direction);
int JOIN(user_copy_, MAJOR)(void *dst, const void *src, size_t count, int direction)
{
    return cudaMemcpy(dst, src, count, direction);
}

int JOIN(user_copy_async_, MAJOR)(void *dst, const void *src, size_t count, int direction);
int JOIN(user_copy_async_, MAJOR)(void *dst, const void *src, size_t count, int direction)
{
    return cudaMemcpyAsync(dst, src, count, direction, NULL);
}

int JOIN(user_read_, MAJOR)(void *dst, const void *src, size_t count);
int JOIN(user_read_, MAJOR)(void *dst, const void *src, size_t count)
{
    int result = cudaMemcpyAsync(dst, src, count, 2, NULL);
    cudaStreamSynchronize(NULL);
    return result;
}

/* A copy on one stream and a wait for another. */
int JOIN(user_read_apart_, MAJOR)(void *dst, const void *src, size_t count);
int JOIN(user_read_apart_, MAJOR)(void *dst, const void *src, size_t count)
{
    int result = cudaMemcpyAsync(dst, src, count, 2, (void *)16);
    cudaStreamSynchronize((void *)32);
    return result;
}
