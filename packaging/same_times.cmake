# SPDX-License-Identifier: Apache-2.0
# Run by cpack before it packs: every file of the archive gets the time of SOURCE_DATE_EPOCH, where that is set.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
    execute_process(COMMAND find ${CPACK_TEMPORARY_INSTALL_DIRECTORY}
        -exec touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} + COMMAND_ERROR_IS_FATAL ANY)
endif()
