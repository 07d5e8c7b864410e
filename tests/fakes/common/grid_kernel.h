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

// The arguments of a kernel as a text: for each a p, where it is a pointer, or else a v, and then its bytes
// ("p8p8v48").
struct grid_text {
    char text[128];
    unsigned length;
    void put(unsigned number)
    {
        if (number > 9) put(number / 10);
        text[length++] = (char)('0' + number % 10);
    }
};
template <typename T> struct grid_letter {
    static const char value = 'v';
};
template <typename T> struct grid_letter<T *> {
    static const char value = 'p';
};
template <typename T> static inline bool grid_put(struct grid_text &to)
{
    to.text[to.length++] = grid_letter<T>::value;
    to.put(sizeof(T));
    return true;
}
template <typename... A> static inline const char *grid_kinds(void (*)(A...))
{
    static struct grid_text kinds;
    if (kinds.length > 0) return kinds.text;
    bool all[] = {true, grid_put<typename grid_plain<A>::type>(kinds)...};
    (void)all;
    return kinds.text;
}

#define GRID_EXPORT extern "C" __attribute__((visibility("default")))
#define GRID_KERNEL(name)                                 \
    GRID_EXPORT void grid_kernel_##name(void **arguments) \
    {                                                     \
        grid_call(name, arguments);                       \
    }                                                     \
    GRID_EXPORT const char *grid_kinds_##name()           \
    {                                                     \
        return grid_kinds(name);                          \
    }
#endif

#endif
