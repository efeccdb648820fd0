# Lays out FOLDER/kernelbrain and packs it into FOLDER/kernelbrain.tar.xz:
#   bin/  kernelbrain (kb-opt and kb-compile are links to it), kb-worker
#   lib/  libKernelBrainCudaRuntime.so, and what bin/ needs beyond glibc
#   share/ the comparer and the examples
set(root ${FOLDER}/kernelbrain)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${root}/bin ${root}/lib ${root}/share)
file(COPY ${PROGRAM} DESTINATION ${root}/bin)
file(CREATE_LINK kernelbrain ${root}/bin/kb-opt SYMBOLIC)
file(CREATE_LINK kernelbrain ${root}/bin/kb-compile SYMBOLIC)
file(COPY_FILE ${WORKER} ${root}/bin/kb-worker)
file(COPY ${RUNTIME} DESTINATION ${root}/lib)
file(COPY ${SOURCE}/utils/compare.py ${SOURCE}/utils/ciface.py ${SOURCE}/examples/torch ${SOURCE}/LICENSE
  DESTINATION ${root}/share)

file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAM} ${WORKER} LIBRARIES ${RUNTIME}
  RESOLVED_DEPENDENCIES_VAR needed UNRESOLVED_DEPENDENCIES_VAR missing
  POST_EXCLUDE_REGEXES "/lib(c|m|dl|rt|pthread|resolv)\\.so" "/ld-linux")
if(missing)
  message(FATAL_ERROR "bundle: not found: ${missing}")
endif()
foreach(library ${needed})
  file(COPY ${library} DESTINATION ${root}/lib FOLLOW_SYMLINK_CHAIN)
endforeach()

execute_process(COMMAND ${CMAKE_COMMAND} -E tar cJf ../kernelbrain.tar.xz . WORKING_DIRECTORY ${root}
  COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${FOLDER}/kernelbrain.tar.xz bytes)
math(EXPR megabytes "${bytes} / 1000000")
message(STATUS "${FOLDER}/kernelbrain.tar.xz: ${megabytes} MB")
if(bytes GREATER 45000000)
  message(FATAL_ERROR "bundle: over 45 MB")
endif()
