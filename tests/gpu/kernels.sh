#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernels.sh TEST_KERNELS: every kernel, with a full epilogue, before every compiler that is here. GLSL: glslangValidator and
# spirv-val. OpenCL C 1.2: clang (its headers know no halves in memory without cl_khr_fp16, so that f16s is left to devices).
# CUDA and Metal: clang with the declarations in stubs/, a check of syntax and types.
test_kernels=$1
stubs=$(cd "$(dirname "$0")" && pwd)/stubs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checked=
failed=0

"$test_kernels" --write "$work" || exit 1
cd "$work" || exit 1

# check WHAT COMMAND...: runs it and remembers that it went wrong.
check() {
    what=$1
    shift
    if ! "$@" >said 2>&1; then
        grep -vE '^(Warning|[^ ]*\.comp)$' said | head -40
        echo "kernels: $what is not right"
        failed=1
    fi
}

if command -v glslangValidator >/dev/null; then
    checked="$checked GLSL"
    check 'GLSL ES' glslangValidator ./*.es.comp
    for file in *.vk.comp; do
        check "GLSL: $file" glslangValidator -V --target-env vulkan1.1 "$file" -o shader.spv
        # Types of cooperative matrices are not complete before gpu_shaders has seen them, which the build validates.
        if grep -q SPV_KHR_cooperative_matrix "$file"; then continue; fi
        if command -v spirv-val >/dev/null; then check "SPIR-V: $file" spirv-val --target-env vulkan1.1 shader.spv; fi
    done
fi
if command -v clang >/dev/null; then
    checked="$checked OpenCL CUDA Metal"
    quiet='-fsyntax-only -Werror -Wno-unused-function -Wno-unknown-pragmas -Wno-constant-logical-operand'
    # shellcheck disable=SC2086  # a list of options
    check 'OpenCL C' clang $quiet -x cl -cl-std=CL1.2 -Xclang -finclude-default-header ./*.f32.cl
    # shellcheck disable=SC2086
    check 'OpenCL C with halves' clang $quiet -x cl -cl-std=CL1.2 -Xclang -finclude-default-header \
        -Xclang -cl-ext=+cl_khr_fp16 ./*.f16.cl
    # shellcheck disable=SC2086
    check 'OpenCL C 3.0 with products of bytes' clang $quiet -x cl -cl-std=CL3.0 -Xclang -finclude-default-header \
        -D__opencl_c_integer_dot_product_input_4x8bit_packed ./*_dots.f32.cl
    # shellcheck disable=SC2086
    check 'CUDA C++' clang $quiet -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib \
        -include "$stubs/cuda.h" ./*.cu
    # shellcheck disable=SC2086
    check 'Metal' clang $quiet --target=aarch64-linux-gnu -x c++ -std=c++17 -nostdinc -I "$stubs" \
        -Wno-unknown-attributes -Wno-ignored-attributes ./*.metal
fi
if [ -z "$checked" ]; then
    echo 'kernels: neither glslangValidator nor clang is here'
    exit 77
fi
set -- ./*.f32.cl
if [ $failed -eq 0 ]; then echo "kernels: $# in$checked: right"; fi
exit $failed
