// SPDX-License-Identifier: Apache-2.0
// The application's kernel that writes input_value, see application.h.
#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Values { float values[]; };
layout(push_constant) uniform Params { int first; };
void main()
{
    int i = int(gl_GlobalInvocationID.x);
    values[first + i] = float(i % 7 - 3) * 0.5;
}
