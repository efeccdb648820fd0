class KernelBrainError(Exception):
    """What went wrong outside the caller's arguments."""


class LoadError(KernelBrainError):
    """A file that is no library of kb-compile, or one that cannot be loaded here."""


class ToolError(KernelBrainError):
    """kb-opt or kb-compile failed.

    status: its exit status, negative if a signal ended it, None if it could not be started.
    diagnostics: what it wrote to standard error.
    """

    def __init__(self, message, status=None, diagnostics=""):
        super().__init__(f"{message}\n{diagnostics}".rstrip())
        self.status = status
        self.diagnostics = diagnostics
