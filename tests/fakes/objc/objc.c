// SPDX-License-Identifier: Apache-2.0
// See objc.h. Objects that are gone keep their memory until objc_sweep, so that a late message finds them out.
#include "objc/objc.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of references and the list of objects
static struct objc_object *objects;
static long long live;

// ---- objects --------------------------------------------------------------------------------------------------------

void *objc_create(const struct objc_class *isa)
{
    struct objc_object *object = calloc(1, isa->bytes);
    if (!object) abort();
    object->isa = isa;
    object->references = 1;
    pthread_mutex_lock(&lock);
    object->next = objects;
    objects = object;
    live++;
    pthread_mutex_unlock(&lock);
    return object;
}

// Changes the number of references. Returns whether the object is to go now.
static bool count(struct objc_object *object, int change)
{
    pthread_mutex_lock(&lock);
    bool was_gone = object->is_gone;
    if (!was_gone) object->references += change;
    object->is_gone = object->references == 0;
    bool goes = object->is_gone && !was_gone;
    if (goes) live--;
    pthread_mutex_unlock(&lock);
    if (was_gone) objc_complain("%s is gone and was sent %s", object->isa->name, change < 0 ? "release" : "retain");
    return goes;
}

void *objc_retain(void *object)
{
    if (object && ((struct objc_object *)object)->isa) count(object, 1);
    return object;
}

void objc_release(void *own)
{
    struct objc_object *object = own;
    if (object && object->isa && count(object, -1) && object->isa->dealloc) object->isa->dealloc(object);
}

long long objc_live(void)
{
    pthread_mutex_lock(&lock);
    long long now = live;
    pthread_mutex_unlock(&lock);
    return now;
}

void objc_sweep(void)
{
    pthread_mutex_lock(&lock);
    for (struct objc_object **link = &objects; *link;) {
        struct objc_object *object = *link;
        if (!object->is_gone) {
            link = &object->next;
            continue;
        }
        *link = object->next;
        free(object);
    }
    pthread_mutex_unlock(&lock);
}

// ---- pools ----------------------------------------------------------------------------------------------------------

struct pool {
    struct pool *outer;
    void **objects;
    int count, capacity;
};

static _Thread_local struct pool *innermost;

EXPORTED void *objc_autoreleasePoolPush(void)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) abort();
    pool->outer = innermost;
    innermost = pool;
    return pool;
}

EXPORTED void objc_autoreleasePoolPop(void *own)
{
    struct pool *pool = own;
    if (pool != innermost) objc_complain("a pool is popped that is not this thread's innermost");
    innermost = pool->outer;
    for (int i = pool->count; i-- > 0;) objc_release(pool->objects[i]);
    free(pool->objects);
    free(pool);
}

void *objc_autorelease(void *own)
{
    struct objc_object *object = own;
    struct pool *pool = innermost;
    if (!object) return NULL;
    if (!pool) {
        objc_complain("%s leaks: its thread has no pool", object->isa->name);
        return object;
    }
    if (pool->count == pool->capacity) {
        pool->capacity = 2 * pool->capacity + 8;
        pool->objects = realloc(pool->objects, (size_t)pool->capacity * sizeof *pool->objects);
        if (!pool->objects) abort();
    }
    pool->objects[pool->count++] = object;
    return object;
}

// ---- messages -------------------------------------------------------------------------------------------------------

static const struct objc_method *find_method(const struct objc_method *methods, const char *selector)
{
    for (; methods && methods->selector; methods++)
        if (strcmp(methods->selector, selector) == 0 && (!methods->is_new || objc_has_new_methods())) return methods;
    return NULL;
}

static void *send_retain(void *object, const char *selector)
{
    (void)selector;
    return objc_retain(object);
}

static void send_release(void *object, const char *selector)
{
    (void)selector;
    objc_release(object);
}

static signed char send_responds(void *object, const char *selector, const char *asked)
{
    (void)selector;
    return find_method(((struct objc_object *)object)->isa->methods, asked) != NULL;
}

static const struct objc_method everyone[] = {
    OBJC_METHOD("retain", send_retain),
    OBJC_METHOD("release", send_release),
    OBJC_METHOD("respondsToSelector:", send_responds),
    {NULL, NULL, false},
};

static void *send_nothing(void)
{
    return NULL;
}

static bool is_gone(const struct objc_object *object)
{
    pthread_mutex_lock(&lock);
    bool gone = object->is_gone;
    pthread_mutex_unlock(&lock);
    return gone;
}

// What objc_msgSend jumps to.
__attribute__((used, visibility("hidden"))) void (*objc_find_function(struct objc_object *object,
                                                                      const char *selector))(void);
void (*objc_find_function(struct objc_object *object, const char *selector))(void)
{
    if (!object) return (void (*)(void))send_nothing;
    const struct objc_class *isa = object->isa ? object->isa : (const struct objc_class *)object;
    const struct objc_method *method = find_method(object->isa ? isa->methods : isa->class_methods, selector);
    if (!method && object->isa) method = find_method(everyone, selector);
    bool gone = is_gone(object);
    if (gone) objc_complain("%s is gone and was sent %s", isa->name, selector);
    if (!method) objc_complain("%s does not know %s", isa->name, selector);
    return method && !gone ? method->function : (void (*)(void))send_nothing;
}

// Finds the function and jumps to it with all registers that arguments may be in as they were. C has no words for that.
#if defined(__x86_64__)
#define SEND(name, object, selector)                                                        \
    __asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n"                \
            "push %rbp\nmov %rsp, %rbp\nsub $192, %rsp\n"                                   \
            "mov %rdi, (%rsp)\nmov %rsi, 8(%rsp)\nmov %rdx, 16(%rsp)\nmov %rcx, 24(%rsp)\n" \
            "mov %r8, 32(%rsp)\nmov %r9, 40(%rsp)\nmov %rax, 48(%rsp)\n"                    \
            "movups %xmm0, 64(%rsp)\nmovups %xmm1, 80(%rsp)\nmovups %xmm2, 96(%rsp)\n"      \
            "movups %xmm3, 112(%rsp)\nmovups %xmm4, 128(%rsp)\nmovups %xmm5, 144(%rsp)\n"   \
            "movups %xmm6, 160(%rsp)\nmovups %xmm7, 176(%rsp)\n"                            \
            "mov " object ", %rax\nmov " selector ", %rsi\nmov %rax, %rdi\n"                \
            "call objc_find_function\nmov %rax, %r11\n"                                     \
            "mov (%rsp), %rdi\nmov 8(%rsp), %rsi\nmov 16(%rsp), %rdx\nmov 24(%rsp), %rcx\n" \
            "mov 32(%rsp), %r8\nmov 40(%rsp), %r9\nmov 48(%rsp), %rax\n"                    \
            "movups 64(%rsp), %xmm0\nmovups 80(%rsp), %xmm1\nmovups 96(%rsp), %xmm2\n"      \
            "movups 112(%rsp), %xmm3\nmovups 128(%rsp), %xmm4\nmovups 144(%rsp), %xmm5\n"   \
            "movups 160(%rsp), %xmm6\nmovups 176(%rsp), %xmm7\n"                            \
            "leave\njmp *%r11\n.size " name ", . - " name "\n")
SEND("objc_msgSend", "%rdi", "%rsi");
SEND("objc_msgSend_stret", "%rsi", "%rdx"); // the result's address comes first
#elif defined(__aarch64__)
__asm__(".text\n.globl objc_msgSend\n.type objc_msgSend, %function\nobjc_msgSend:\n"
        "stp x29, x30, [sp, -224]!\nmov x29, sp\n"
        "stp x0, x1, [sp, 16]\nstp x2, x3, [sp, 32]\nstp x4, x5, [sp, 48]\nstp x6, x7, [sp, 64]\nstr x8, [sp, 80]\n"
        "stp q0, q1, [sp, 96]\nstp q2, q3, [sp, 128]\nstp q4, q5, [sp, 160]\nstp q6, q7, [sp, 192]\n"
        "bl objc_find_function\nmov x16, x0\n"
        "ldp x0, x1, [sp, 16]\nldp x2, x3, [sp, 32]\nldp x4, x5, [sp, 48]\nldp x6, x7, [sp, 64]\nldr x8, [sp, 80]\n"
        "ldp q0, q1, [sp, 96]\nldp q2, q3, [sp, 128]\nldp q4, q5, [sp, 160]\nldp q6, q7, [sp, 192]\n"
        "ldp x29, x30, [sp], 224\nbr x16\n.size objc_msgSend, . - objc_msgSend\n");
#else
#error "no objc_msgSend for this processor: leave the fake out"
#endif

// ---- classes and selectors ------------------------------------------------------------------------------------------

EXPORTED const void *objc_getClass(const char *name);
const void *objc_getClass(const char *name)
{
    for (const struct objc_class *const *isa = objc_classes; *isa; isa++)
        if (strcmp((*isa)->name, name) == 0) return *isa;
    return NULL;
}

// Selectors are their names. Those that literals of the caller name outlive the call; the others are made for good.
EXPORTED const char *sel_registerName(const char *name);
const char *sel_registerName(const char *name)
{
    return name;
}
