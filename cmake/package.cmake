# SPDX-License-Identifier: Apache-2.0
# `cpack` in a build folder makes an archive of what is installed; `./dev package archive` adds its bill of materials and sums.
# With SOURCE_DATE_EPOCH set the same tree gives the same bytes: xz keeps no time, and the files get this one.
set(CPACK_PACKAGE_NAME halite)
set(CPACK_PACKAGE_VENDOR Halite)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Runs TensorFlow Lite models, in plain C")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
string(TOLOWER "halite-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" CPACK_PACKAGE_FILE_NAME)
set(CPACK_GENERATOR TXZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_COMPONENTS_ALL runtime gpu delegates litert dev tools doc)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/same_times.cmake)
include(CPack)
