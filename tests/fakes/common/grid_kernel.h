// SPDX-License-Identifier: Apache-2.0
// What a text for grid.h has before its first line, in C++14 and without headers: the position of the work-item that
// runs, the barrier, and calls of kernels with arguments given by address.
#ifndef HALITE_TESTS_FAKES_COMMON_GRID_KERNEL_H
#define HALITE_TESTS_FAKES_COMMON_GRID_KERNEL_H

struct grid_axes {
    unsigned x, y, z;
};

// grid.c has the same struct in C.
struct grid_work_item {
    struct grid_axes local, group, group_size, groups;
    void (*barrier)(void);
};

#if defined(__cplusplus)
// Set by grid.c whenever another work-item goes on.
static struct grid_work_item grid_now;
extern "C" __attribute__((visibility("default"))) struct grid_work_item *grid_place()
{
    return &grid_now;
}

#define GRID_BARRIER() grid_now.barrier()
// Memory of the work-group: work-groups run one after the other.
#define GRID_SHARED static

template <typename T> struct grid_plain {
    typedef T type;
};
template <typename T> struct grid_plain<T &> {
    typedef T type;
};
template <typename T> struct grid_plain<const T> {
    typedef T type;
};
template <typename T> struct grid_plain<const T &> {
    typedef T type;
};
template <unsigned... I> struct grid_indices {
};
template <unsigned N, unsigned... I> struct grid_count : grid_count<N - 1, N - 1, I...> {
};
template <unsigned... I> struct grid_count<0, I...> {
    typedef grid_indices<I...> type;
};
template <typename... A, unsigned... I>
static inline void grid_call(void (*kernel)(A...), void **arguments, grid_indices<I...>)
{
    kernel(*static_cast<typename grid_plain<A>::type *>(arguments[I])...);
}
template <typename... A> static inline void grid_call(void (*kernel)(A...), void **arguments)
{
    grid_call(kernel, arguments, typename grid_count<sizeof...(A)>::type());
}
#define GRID_KERNEL(name)                                                                       \
    extern "C" __attribute__((visibility("default"))) void grid_kernel_##name(void **arguments) \
    {                                                                                           \
        grid_call(name, arguments);                                                             \
    }
#endif

#endif
