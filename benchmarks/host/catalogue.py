"""What the files of examples/torch are: their classes, and the set that the project's speed claims are made on."""

# The files whose rowwise reductions and elementwise chains have strategies.
CLAIMED = ["softmax", "log_softmax_odd", "layernorm", "rmsnorm_residual", "gelu_bias", "argmax_rows", "embed_norm",
           "cross_entropy"]

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
