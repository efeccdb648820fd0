// Carries the precompiled header of the MLIR libraries.
