"""What the files of examples/torch are: their classes, and the sets that the project's speed claims are made on."""

SETS = {
    # Rowwise reductions and elementwise chains.
    "rows": ["softmax", "log_softmax_odd", "layernorm", "rmsnorm_residual", "gelu_bias", "argmax_rows", "embed_norm",
             "cross_entropy"],
    # Everything without windowed convolution, pooling, scan or stencil.
    "claimed": ["softmax", "log_softmax_odd", "layernorm", "rmsnorm_residual", "gelu_bias", "argmax_rows", "embed_norm",
                "cross_entropy", "matmul_1024", "matmul_skinny", "batched_matmul_nt", "int8_linear", "mlp",
                "dynamic_mlp", "swiglu", "gru_step", "attention_causal", "encoder_block", "decoder_block",
                "groupnorm_silu", "pairwise_distance", "column_stats", "transpose"],
}

CLASSES = {
    "softmax": "rowwise", "log_softmax_odd": "rowwise", "layernorm": "rowwise", "rmsnorm_residual": "rowwise",
    "embed_norm": "rowwise", "cross_entropy": "rowwise", "argmax_rows": "arg reduction",
    "pairwise_distance": "arg reduction", "gelu_bias": "elementwise", "transpose": "data movement",
    "column_stats": "column reduction", "cumsum": "scan", "matmul_1024": "contraction", "matmul_skinny": "contraction",
    "batched_matmul_nt": "contraction", "int8_linear": "contraction", "mlp": "block", "swiglu": "block",
    "dynamic_mlp": "block", "attention_causal": "block", "encoder_block": "block", "decoder_block": "block",
    "gru_step": "block", "groupnorm_silu": "convolutional", "residual_block": "convolutional",
    "inverted_residual": "convolutional", "inverted_residual_stride2": "convolutional", "lenet": "convolutional",
    "tosa_conv_block": "convolutional", "maxpool_avgpool": "stencil", "jacobi": "stencil",
}

# Files that are one product, by the layout of their operands.
PRODUCTS = {"matmul_1024": "NN", "matmul_skinny": "NN", "batched_matmul_nt": "NT"}
