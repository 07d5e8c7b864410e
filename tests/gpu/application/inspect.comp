// SPDX-License-Identifier: Apache-2.0
// The application's kernel that adds 1, see application.h.
#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) readonly buffer Values { float values[]; };
layout(std430, binding = 1) writeonly buffer Sums { float sums[]; };
layout(push_constant) uniform Params { int first; };
void main()
{
    int i = int(gl_GlobalInvocationID.x);
    sums[i] = values[first + i] + 1.0;
}
