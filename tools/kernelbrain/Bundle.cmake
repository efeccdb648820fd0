# Lays out FOLDER/kernelbrain and packs it into FOLDER/kernelbrain.tar.xz:
#   bin/  kernelbrain (kb-opt and kb-compile are links to it), kb-worker
#   lib/  libKernelBrainCudaRuntime.so, and what bin/ needs beyond glibc
#   share/ part of the repository as it lies there: checks, comparer, benchmark, Python package, examples
set(root ${FOLDER}/kernelbrain)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${root}/bin ${root}/lib ${root}/share)
file(COPY ${PROGRAM} DESTINATION ${root}/bin)
file(CREATE_LINK kernelbrain ${root}/bin/kb-opt SYMBOLIC)
file(CREATE_LINK kernelbrain ${root}/bin/kb-compile SYMBOLIC)
file(COPY_FILE ${WORKER} ${root}/bin/kb-worker)
file(COPY ${RUNTIME} DESTINATION ${root}/lib)
foreach(path LICENSE utils/check-on-gpu utils/on_gpu utils/gpus.py utils/pipeline.py utils/compare.py utils/ciface.py examples/torch
    examples/device benchmarks/gpu benchmarks/host python/src test/Driver/Inputs/gpu.mlir)
  get_filename_component(folder ${path} DIRECTORY)
  file(COPY ${SOURCE}/${path} DESTINATION ${root}/share/${folder} PATTERN "__pycache__" EXCLUDE)
endforeach()
file(CREATE_LINK ../share/utils/check-on-gpu ${root}/bin/check-on-gpu SYMBOLIC)

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
