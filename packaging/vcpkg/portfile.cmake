# SPDX-License-Identifier: Apache-2.0
# An overlay port of this tree: vcpkg install halite --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../.." ABSOLUTE)
set(gpu OFF)
if("gpu" IN_LIST FEATURES)
    set(gpu ON)
endif()
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS
    -DHALITE_TESTS=OFF -DHALITE_TOOLS=OFF -DHALITE_PYTHON=OFF -DHALITE_JAVA=OFF -DHALITE_OBJC=OFF -DHALITE_GPU=${gpu})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME tensorflowlite_c CONFIG_PATH lib/cmake/tensorflowlite_c)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
