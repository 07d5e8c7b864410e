// SPDX-License-Identifier: Apache-2.0
//
// Versions as texts and numbers, at the time of compiling: TfLiteVersion (c/c_api.h) says what the
// library has. A program may define TF_VERSION_STRING or the numbers itself before this header.
#ifndef TENSORFLOW_LITE_VERSION_H_
#define TENSORFLOW_LITE_VERSION_H_

#ifndef TF_VERSION_STRING
#ifndef TF_MAJOR_VERSION
#define TF_MAJOR_VERSION 2
#endif
#ifndef TF_MINOR_VERSION
#define TF_MINOR_VERSION 19
#endif
#ifndef TF_PATCH_VERSION
#define TF_PATCH_VERSION 0
#endif
#ifndef TF_VERSION_SUFFIX
#define TF_VERSION_SUFFIX ""
#endif
#define TFLITE_TEXT_OF_VERSION_(number) #number
#define TFLITE_TEXT_OF_VERSION(number) TFLITE_TEXT_OF_VERSION_(number)
#define TF_VERSION_STRING                                                                   \
    (TFLITE_TEXT_OF_VERSION(TF_MAJOR_VERSION) "." TFLITE_TEXT_OF_VERSION(TF_MINOR_VERSION) \
     "." TFLITE_TEXT_OF_VERSION(TF_PATCH_VERSION) TF_VERSION_SUFFIX)
#endif

// Of the model file format.
#define TFLITE_SCHEMA_VERSION (3)

#define TFLITE_VERSION_STRING TF_VERSION_STRING

// Of the interface for operators and delegates.
#define TFLITE_EXTENSION_APIS_VERSION_STRING TFLITE_VERSION_STRING

#endif  // TENSORFLOW_LITE_VERSION_H_
