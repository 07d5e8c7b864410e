// SPDX-License-Identifier: Apache-2.0
// Every header of the C++ facade includes this one first, so that a program in C, or in an older C++, gets one clear
// message instead of many. Headers of the C library never include it.
#ifndef HALITE_CXX_H
#define HALITE_CXX_H

#if !defined(__cplusplus)
#error "this header of TensorFlow Lite is for C++17; programs in C include tensorflow/lite/c/c_api.h"
#elif __cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L)
#error "TensorFlow Lite's C++ headers need C++17 (-std=c++17)"
#endif

#endif
