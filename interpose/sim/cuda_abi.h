/* The few CUDA structures, codes and enumerators the simulated stack reads or writes, written down from their documented
 * layout (CUDA 13) so that no NVIDIA header is needed. tests/e2e/test_sim_tables.py checks them against a toolkit where one is. */
#ifndef HW_SIM_CUDA_ABI_H
#define HW_SIM_CUDA_ABI_H

#include <stddef.h>

/* Entry points carry the parameters NVIDIA documents; a simulated one often has no use for some of them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define HW_API __attribute__((visibility("default")))

enum {
    HW_CUDA_INVALID_VALUE = 1,
    HW_CUDA_OUT_OF_MEMORY = 2,
    HW_CUDA_INVALID_DEVICE = 101,
    HW_CUDA_INVALID_HANDLE = 400,
    HW_CUDA_ILLEGAL_STATE = 401,
    HW_CUDA_NOT_FOUND = 500,
    HW_CUDA_NOT_READY = 600,
    HW_CUDA_NOT_SUPPORTED = 801,
    HW_CUDA_CAPTURE_UNSUPPORTED = 900,
    HW_CUDA_CAPTURE_INVALIDATED = 901,
    HW_CUDA_CAPTURE_UNMATCHED = 903,
    HW_CUDA_CAPTURED_EVENT = 907,
};

enum { HW_CUDA_UNREGISTERED = 0, HW_CUDA_HOST = 1, HW_CUDA_DEVICE = 2 };                 /* cudaMemoryType */
enum { HW_CUDA_CAPTURE_NONE = 0, HW_CUDA_CAPTURE_ACTIVE = 1, HW_CUDA_CAPTURE_DEAD = 2 }; /* cudaStreamCaptureStatus */
enum { HW_CUDA_MODE_GLOBAL = 0, HW_CUDA_MODE_THREAD = 1, HW_CUDA_MODE_RELAXED = 2 };     /* cudaStreamCaptureMode */

typedef struct hw_cuda_dim3 {
    unsigned x, y, z;
} hw_cuda_dim3;

typedef struct hw_cuda_pointer_attributes { /* struct cudaPointerAttributes */
    int type;
    int device;
    void *device_pointer;
    void *host_pointer;
    long reserved[8];
} hw_cuda_pointer_attributes;

typedef struct hw_cuda_func_attributes { /* struct cudaFuncAttributes */
    size_t shared_size_bytes;
    size_t const_size_bytes;
    size_t local_size_bytes;
    int max_threads_per_block;
    int num_regs;
    int ptx_version;
    int binary_version;
    int cache_mode_ca;
    int max_dynamic_shared_size_bytes;
    int more[23];
} hw_cuda_func_attributes;

typedef struct hw_cuda_launch_config { /* cudaLaunchConfig_t */
    hw_cuda_dim3 grid;
    hw_cuda_dim3 block;
    size_t shared_bytes;
    void *stream;
    void *attrs;
    unsigned num_attrs;
} hw_cuda_launch_config;

typedef struct hw_cu_launch_config { /* CUlaunchConfig */
    hw_cuda_dim3 grid;
    hw_cuda_dim3 block;
    unsigned shared_bytes;
    void *stream;
    void *attrs;
    unsigned num_attrs;
} hw_cu_launch_config;

typedef struct hw_cuda_device_prop { /* struct cudaDeviceProp */
    char name[256];
    unsigned char uuid[16];
    char luid[8];
    unsigned luid_device_node_mask;
    size_t total_global_mem;
    size_t shared_mem_per_block;
    int regs_per_block;
    int warp_size;
    size_t mem_pitch;
    int max_threads_per_block;
    int max_threads_dim[3];
    int max_grid_size[3];
    size_t total_const_mem;
    int major;
    int minor;
    size_t texture_alignment;
    size_t texture_pitch_alignment;
    int multi_processor_count;
    int integrated;
    int can_map_host_memory;
    int texture_limits[39];
    size_t surface_alignment;
    int concurrent_kernels;
    int ecc_enabled;
    int pci_bus_id;
    int pci_device_id;
    int pci_domain_id;
    int tcc_driver;
    int async_engine_count;
    int unified_addressing;
    int memory_bus_width;
    int l2_cache_size;
    int persisting_l2_cache_max_size;
    int max_threads_per_multi_processor;
    int stream_priorities_supported;
    int global_l1_cache_supported;
    int local_l1_cache_supported;
    size_t shared_mem_per_multiprocessor;
    int regs_per_multiprocessor;
    int managed_memory;
    int is_multi_gpu_board;
    int multi_gpu_board_group_id;
    int host_native_atomic_supported;
    int pageable_memory_access;
    int concurrent_managed_access;
    int compute_preemption_supported;
    int can_use_host_pointer_for_registered_mem;
    int cooperative_launch;
    size_t shared_mem_per_block_optin;
    int pageable_memory_access_uses_host_page_tables;
    int direct_managed_mem_access_from_host;
    int max_blocks_per_multi_processor;
    int access_policy_max_window_size;
    size_t reserved_shared_mem_per_block;
    int more[76];
} hw_cuda_device_prop;

#endif
