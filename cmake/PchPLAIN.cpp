// Carries the precompiled header of the plain libraries.
