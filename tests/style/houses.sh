#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which folder may include from which. The runtime (src/model, runtime, ops, fast) and the delegates (src/gpu,
# src/delegates) know each other only through the public headers; within the runtime the direction is
#     base <- abi <- model <- runtime <- ops <- fast
# with one header against it: fast/fast.h, through which an operator names its fast kernel. The runtime reaches the
# operators through a table that it declares itself (runtime/builtin_kernels.h).
cd "$(dirname "$0")/../.." || exit 2
failed=0

# only FOLDER ALLOWED [HEADER]: files of src/FOLDER include from the folders ALLOWED (alternatives of a regular expression)
# and themselves, no others of src; and HEADER, if there is one.
only() {
    houses='base|abi|model|runtime|ops|fast|queue|gpu|delegates|litert'
    if grep -rnE "#[[:space:]]*(include|import)[[:space:]]*[\"<](\.\./|src/)*($houses)/" "src/$1" |
        grep -vE "[\"<](\.\./|src/)*($1|$2)/" | grep -vF "\"${3:-nothing else}\""; then
        echo "src/$1 may include from $1, $2 alone${3:+, and $3}"
        failed=1
    fi
}
only base base
only abi base
only model 'base|abi'
only runtime 'base|abi|model'
only ops 'base|abi|model|runtime' fast/fast.h
only fast 'base|abi|model|runtime|ops'
# The queue stands on the public headers, as an application does.
only queue base
only delegates 'base|abi'
# Each delegate for an accelerator is a house of its own, and shares src/delegates/common with the others and the GPU's.
only delegates/common 'base|abi'
only delegates/nnapi 'base|abi|delegates/common'
only delegates/hexagon 'base|abi|delegates/common'
only delegates/coreml 'base|abi|delegates/common'
only gpu 'base|abi|delegates/common'
only litert 'base'
# LiteRT's two libraries know the runtime and the delegate by their public headers, and not each other.
only litert/accelerator 'base|litert'
if grep -rn '"litert/core/' src/litert/accelerator || grep -rn '"litert/accelerator/' src/litert/core 2>/dev/null; then
    echo "the accelerator and the core of LiteRT meet at include/litert alone"
    failed=1
fi
# Inside the delegate: delegate -> integer -> ops -> plan -> graph, backend -> lang
only gpu/lang base
only gpu/backend 'base|gpu/lang'
only gpu/graph 'base|abi|delegates/common|gpu/lang'
only gpu/plan 'base|gpu/(lang|graph|backend)'
only gpu/ops 'base|abi|gpu/(lang|graph|plan)' gpu/integer/ops.def
only gpu/integer 'base|abi|gpu/(lang|graph|plan|ops)'

# What differs between systems is called in src/base alone.
calls='sysconf|posix_memalign|aligned_alloc|dlopen|dlsym|dlclose|dlerror|clock_gettime|nanosleep|GetProcAddress|LoadLibraryA'
more='mmap|munmap|fork|exec[lv]p?e?|waitpid|getpid|mkstemp|mkdtemp|pthread_[a-z_]+|sched_yield|open|stat|lstat|fstat|access'
more="$more|unlink|rename|rmdir|mkdir|opendir|readdir|scandir|readlink|isatty|ioctl|getrusage|sigaction|sigwait|ftruncate"
more="$more|pread|strn?casecmp|realpath"
headers='pthread|signal|unistd|dirent|fcntl|strings|dlfcn|sched|windows|io|direct|process|sys/[a-z]+'
if grep -rnE "(^|[^a-zA-Z0-9_.>\"-])($calls|$more)\(|^# *include <($headers)\.h>" src tools --include='*.[ch]' |
    grep -vE '^src/(base|gpu/lang/(build|spirv))/|^[^:]*:[0-9]*: *(//|")'; then # a string may hold another language
    echo "such calls and headers belong in src/base"
    failed=1
fi
# No file outside of it asks which system it is built for. What stays: Apple's framework and header, which are a condition
# of building, and the ABI of C++ classes, which is Microsoft's compiler's own.
systems='_WIN32|__MINGW32__|__linux__|__APPLE__|__ANDROID__|__unix__|__EMSCRIPTEN__|__wasi__|__wasm__'
if grep -rnE "^ *# *(if|elif).*($systems)" src tools --include='*.[ch]' |
    grep -vE '^src/(base/|delegates/coreml/run_apple\.c|gpu/backend/opencl_api\.[ch])'; then
    echo "what differs between systems belongs in src/base"
    failed=1
fi
exit $failed
