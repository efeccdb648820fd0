//===- Passes.td - The passes that search and apply ---------*- tablegen -*-===//

#ifndef KERNELBRAIN_DRIVER_PASSES_TD
#define KERNELBRAIN_DRIVER_PASSES_TD

include "mlir/Pass/PassBase.td"

def SearchPass : Pass<"kb-search", "::mlir::ModuleOp"> {
  let summary = "Search for faster implementations of the module's kernels";
  let description = [{
    Precondition: `kb-outline` has moved kernels into `module @kb.kernels`.
    Every kernel that a strategy applies to is searched for within the budget:
    a proposer grows a tree of variants; each is built by a child process
    (`kb-compile --serve`), checked and timed on the device by another
    (`kb-worker`). The winner becomes a `kb.variant` that is `selected` and holds
    its implementation; `kb-splice` puts it in. The whole program is then built
    and run as a user would, and kernels that differ or lose are rolled back.

    Kernels that no strategy applies to are left alone with a remark. With
    `target=cuda` they, and those that no variant won, are selected as the stock
    lowering makes them for the device; the program stays right on a GPU, and
    what cannot be built so stays on the host. The program is compared with the
    input on the CPU where that takes seconds, else with one of stock device
    kernels.

    The pipeline `kb-optimize` takes the same options and runs `kb-normalize`,
    `kb-outline`, this pass and `kb-splice`.

    The environment variables `KB_STORE`, `KB_COMPILE` and `KB_WORKER` stand in
    for the options of those names; a message that names a missing tool says
    where it was looked for. So do `KB_LLM_ENDPOINT` and `KB_LLM_MODEL`. The key
    of a model's server comes from `KB_LLM_API_KEY`, else `OPENAI_API_KEY`, and
    from nowhere else; it is sent to https and to this machine only.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Device to optimise for: host, or cuda, an NVIDIA GPU">,
    Option<"chip", "chip", "std::string", "\"\"",
           "CPU or GPU (sm_90a) to build for, as LLVM spells it; empty: this "
           "machine's. Another one than this machine's needs "
           "evaluator=dry-run. emulated: a GPU on the CPU, for tests">,
    Option<"baselinePipeline", "baseline-pipeline", "std::string", "\"\"",
           "Pass pipeline that lowers a kernel's tensor function to loops, to "
           "compare with instead of the stock lowering">,
    Option<"proposer", "proposer", "std::string", "\"builtin\"",
           "Who proposes variants: builtin, llm (a language model), mixed "
           "(builtin and llm in turn), random (a control), replay">,
    Option<"evaluator", "evaluator", "std::string", "\"device\"",
           "device: run and time; dry-run: a deterministic model, which neither "
           "reads nor writes the database and marks winners unproven">,
    Option<"budgetSeconds", "budget-seconds", "int64_t", "-1",
           "Wall seconds of search for the whole module, without the one-off "
           "cost of inputs, references and baselines; -1: 60, or 0 if "
           "max-variants is given; 0: no limit of this kind (a search ends by "
           "itself 64 variants after its last gain)">,
    Option<"maxVariants", "max-variants", "int64_t", "0",
           "Variants for the whole module; 0: no limit of this kind">,
    Option<"maxTokens", "max-tokens", "int64_t", "0",
           "Model tokens for the whole module; 0: no limit of this kind">,
    Option<"maxCost", "max-cost", "double", "0",
           "Money for model requests, in the currency of llm-price; 0: no limit "
           "of this kind">,
    Option<"seed", "seed", "uint64_t", "0", "Seed of the search and of inputs">,
    Option<"threads", "threads", "int64_t", "1",
           "Threads that a kernel may use. Those with more than one need LLVM's "
           "OpenMP runtime, libomp.so.5: what kb-compile links loads it; "
           "mlir-runner gets it with -shared-libs">,
    Option<"compileJobs", "compile-jobs", "int64_t", "0",
           "Builds side by side; 0: one a core. Never changes the result">,
    Option<"memoryLimitMb", "memory-limit-mb", "int64_t", "4096",
           "Memory limit of one build, MiB above the server's own">,
    Option<"dynamicDim", "dynamic-dim", "int64_t", "128",
           "Extent at which dynamic dimensions without a hint are timed">,
    Option<"kernels", "kernels", "std::string", "\"\"",
           "Regular expression: only kernels whose name matches; empty: all">,
    Option<"emit", "emit", "std::string", "\"memref\"",
           "Level of the output of kb-optimize: memref, tensor or llvm">,
    Option<"placement", "placement", "std::string", "\"host\"",
           "Where the program's buffers live with target=cuda: host (each kernel "
           "copies its operands to the device and back) or device (nothing is "
           "copied)">,
    Option<"workerLaunch", "worker-launch", "std::string", "\"\"",
           "Command that starts kb-worker where the GPU is, such as "
           "'srun --gres=gpu:1' or 'ssh host'; words are split at blanks. Paths "
           "must mean the same there">,
    Option<"strategyLibrary", "strategy-library", "std::string", "\"\"",
           "File of transform strategies to add (comes with a later version)">,
    Option<"store", "store", "std::string", "\"\"",
           "Folder of journals, artifacts and the tuning database; empty: "
           "KB_STORE, else the user's cache folder">,
    Option<"fresh", "fresh", "bool", "false",
           "Search again what the database has a proven entry for, and do not "
           "resume an unfinished run">,
    Option<"log", "log", "std::string", "\"\"",
           "File that gets every event of the search as a line of JSON">,
    Option<"llmEndpoint", "llm-endpoint", "std::string", "\"\"",
           "Base address of a server of Chat Completions, such as "
           "http://127.0.0.1:8123/v1; empty: KB_LLM_ENDPOINT. There is no default">,
    Option<"llmModel", "llm-model", "std::string", "\"\"",
           "Name of the model on that server; empty: KB_LLM_MODEL">,
    Option<"llmPrice", "llm-price", "std::string", "\"\"",
           "Money for a million tokens, prompt/reply, such as 0.25/2.0; empty: "
           "unknown">,
    Option<"llmTimeoutSeconds", "llm-timeout-seconds", "int64_t", "120",
           "Longest wait for a reply of the model, retries included; no longer "
           "than a third of what is left of budget-seconds">,
    Option<"llmPromptTokens", "llm-prompt-tokens", "int64_t", "3000",
           "Room for a prompt: what does not fit is left out">,
    Option<"llmReplyTokens", "llm-reply-tokens", "int64_t", "2048",
           "Most tokens of a reply, a model's thinking included">,
    Option<"replay", "replay", "std::string", "\"\"",
           "Recording, one JSON a line: the log of a run for proposer=replay, "
           "the cassette of a run for proposer=llm or mixed">,
    Option<"estimate", "estimate", "bool", "false",
           "Print what the search would take (kernels, recipes, expected time "
           "over the bound, parts of the budget) and stop">,
    Option<"adapt", "adapt", "bool", "false",
           "Learn rules on practice kernels first (comes with a later version)">,
    Option<"printTree", "print-tree", "bool", "false",
           "Print the tree of variants of each kernel to standard error">,
    Option<"printRegions", "print-regions", "bool", "false",
           "Print the regions that were outlined to standard error">,
    Option<"showPrompts", "show-prompts", "bool", "false",
           "Print every request to the model, as sent, to standard error">,
    Option<"kbCompile", "kb-compile", "std::string", "\"\"",
           "Path of kb-compile; empty: KB_COMPILE, else beside this program">,
    Option<"kbWorker", "kb-worker", "std::string", "\"\"",
           "Path of kb-worker; empty: KB_WORKER, else beside this program">
  ];
  let dependentDialects = [
    "::kernelbrain::kb::KBDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect",
    // Of the functions that a strategy takes a kernel apart in.
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels in the module">,
    Statistic<"numSearched", "searched", "Kernels that were searched for">,
    Statistic<"numWinners", "winners", "Kernels with a selected variant">
  ];
}

def ApplyPass : Pass<"kb-apply", "::mlir::ModuleOp"> {
  let summary = "Select the winners that a tuning database or spec holds";
  let description = [{
    For every kernel with a proven entry for this target, builds the recipe
    again and selects it. Needs no model, no search and no device. An entry
    whose artifact differs from the proven one is reported as unproven and not
    selected unless `unproven` is set. With `target=cuda` kernels without an
    entry are selected as the stock lowering makes them for the device.
  }];
  let options = [
    Option<"store", "store", "std::string", "\"\"",
           "Folder of the tuning database; empty: KB_STORE, else the user's "
           "cache folder">,
    Option<"spec", "spec", "std::string", "\"\"",
           "Text spec (exported from a database) to read instead of one">,
    Option<"exportSpec", "export-spec", "std::string", "\"\"",
           "File to write the entries of this module's kernels to as text">,
    Option<"target", "target", "std::string", "\"host\"",
           "Device that was tuned for: host or cuda">,
    Option<"chip", "chip", "std::string", "\"\"",
           "CPU or GPU to build for; empty: this machine's, for which kb-worker "
           "is asked with target=cuda">,
    Option<"placement", "placement", "std::string", "\"host\"",
           "Where buffers live, as it was tuned: host or device">,
    Option<"threads", "threads", "int64_t", "1",
           "Threads that a kernel may use, as it was tuned">,
    Option<"dynamicDim", "dynamic-dim", "int64_t", "128",
           "Extent at which dynamic dimensions without a hint were tuned">,
    Option<"unproven", "unproven", "bool", "false",
           "Select entries that no device has checked as built here">,
    Option<"compileJobs", "compile-jobs", "int64_t", "0",
           "Builds side by side; 0: one a core">,
    Option<"kbCompile", "kb-compile", "std::string", "\"\"",
           "Path of kb-compile; empty: KB_COMPILE, else beside this program">,
    Option<"kbWorker", "kb-worker", "std::string", "\"\"",
           "Path of kb-worker; empty: KB_WORKER, else beside this program">
  ];
  let dependentDialects = [
    "::kernelbrain::kb::KBDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect",
    // Of the functions that a strategy takes a kernel apart in.
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::tensor::TensorDialect"];
}

def RememberInputPass : Pass<"kb-remember-input", "::mlir::ModuleOp"> {
  let summary = "Keep the module as the baseline program of a later kb-search";
  let description = [{
    The first pass of `kb-optimize`. A `kb-search` in the same pipeline compares
    its result with this program; without one it compares with the outlined
    module, kernels put back. Changes nothing.
  }];
}

def RehearseSplicePass : Pass<"kb-rehearse-splice", "::mlir::ModuleOp"> {
  let summary = "Fails where kb-splice would, if no kernel had a winner";
  let description = [{
    Splices a copy of the program and forgets it: what cannot be lowered is told
    before the search of `kb-optimize`, not after it. Changes nothing.
  }];
  let options = [
    Option<"emit", "emit", "std::string", /*default=*/"\"memref\"",
           "As of kb-splice">,
    Option<"placement", "placement", "std::string", /*default=*/"\"host\"",
           "As of kb-splice">,
  ];
}

#endif // KERNELBRAIN_DRIVER_PASSES_TD
